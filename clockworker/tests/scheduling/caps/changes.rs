//! Caps that are changed, and capped queues whose tasks are aborted, that are closed and shut down.

use std::cell::RefCell;
use std::future::ready;
use std::rc::Rc;

use clockworker::yield_now;

use super::super::shares::SECOND;
use super::{cap, capped, counts, fifth, in_each, ms, run_until};
use crate::support::*;

#[test]
fn a_cap_may_be_changed_midway() {
    let ex = scene("a cap=20/100\n a a: 1000*");
    let queue = queue(&ex, "a");
    run_until(&ex, ms(50));
    // It has used 20, so 30 are left of the 50, and it goes on at once.
    queue.set_cap(Some(cap(ms(50), ms(100)))).unwrap();
    run_until(&ex, ms(300));
    assert_eq!(in_each(ms(0), ms(100), 3), [50, 50, 50].map(ms));
    // A smaller one, in the middle of its work: it has used 30, so it pays for 20 of them.
    run_until(&ex, ms(330));
    queue.set_cap(Some(cap(ms(10), ms(100)))).unwrap();
    run_until(&ex, ms(600));
    assert_eq!(in_each(ms(300), ms(100), 3), [30, 0, 0].map(ms));
    // None, and one of its own length, which begins when it is set.
    queue.set_cap(None).unwrap();
    run_until(&ex, ms(700));
    assert!(within("a", ms(600), ms(700)) >= ms(99));
    queue.set_cap(Some(cap(ms(5), ms(50)))).unwrap();
    let from = now();
    run_until(&ex, from + ms(149));
    assert_eq!(in_each(from, ms(50), 3), [5, 5, 5].map(ms));
}

/// Its first period begins now: also in a poll of the main future that has taken long, or outside of a turn.
#[test]
fn a_cap_counts_from_when_it_is_set() {
    for in_main in [true, false] {
        let ex = world();
        let queue = ex.new_queue("a").create().unwrap();
        let cap_late = move || {
            work(ms(90));
            queue.set_cap(Some(fifth())).unwrap();
            queue.spawn(polls("a", 30, ms(1)));
        };
        if in_main {
            run(&ex, async { cap_late() });
        } else {
            cap_late();
        }
        run_until(&ex, ms(300));
        assert_eq!(in_each(ms(90), ms(100), 2), [20, 10].map(ms), "in the main future: {in_main}");
    }
}

/// A task caps its own queue, or another's, which is running or throttled.
#[test]
fn tasks_may_change_caps() {
    let ex = world();
    let queue = ex.new_queue("a").create().unwrap();
    let own = queue.clone();
    queue.spawn(async move {
        for poll in 0..20 {
            match poll {
                3 => own.set_cap(Some(cap(ms(2), ms(100)))).unwrap(),
                6 => own.set_cap(None).unwrap(),
                _ => {}
            }
            polls("a", 1, ms(1)).await;
            yield_now().await;
        }
    });
    run_until(&ex, ms(400));
    // It is capped from 3 on: two polls, and the next when the period is over. That one takes the cap away.
    assert_eq!(starts("a")[..7], [0, 1, 2, 3, 4, 103, 104].map(ms));
    assert_eq!(counts(&queue), (2, 1, ms(98)));
    // Throttled, until a task of another queue raises its cap.
    queue.set_cap(Some(cap(ms(1), SECOND))).unwrap();
    queue.spawn(polls("b", usize::MAX, ms(1)));
    let (other, at) = (queue.clone(), now());
    ex.spawn(async move {
        polls("", 5, ms(1)).await;
        yield_now().await;
        other.set_cap(Some(cap(ms(4), SECOND))).unwrap();
        polls("", 5, ms(1)).await;
    });
    run_until(&ex, at + ms(100));
    assert_eq!(starts("b").len(), 4);
    assert!(starts("b")[1] >= at + ms(6), "{:?}", starts("b"));
}

// ---- Aborts, closing, shutdown

#[test]
fn a_throttled_queue_drops_aborted_tasks_at_once_and_its_cap_pays() {
    let (ex, dropped) = (world(), Rc::new(RefCell::new(Vec::new())));
    let queue = capped(&ex, fifth());
    queue.spawn(polls("a", usize::MAX, ms(30)));
    let victims = [(); 3].map(|()| {
        let dropped = Rc::clone(&dropped);
        queue.spawn(hold(OnDrop::new(move || {
            dropped.borrow_mut().push(now());
            work(ms(5));
        })))
    });
    run_until(&ex, ms(40));
    victims.iter().for_each(|victim| victim.abort());
    run_until(&ex, ms(250));
    // 45 of 20 are used in the first period, so the second is for the debt.
    assert_eq!(dropped.take(), [40, 45, 50].map(ms));
    assert_eq!(starts("a"), [0, 200].map(ms));
    assert!(victims.iter().all(|victim| victim.is_finished()));
}

#[test]
fn a_throttled_queue_may_be_closed_and_goes_when_its_tasks_are_done() {
    let ex = world();
    let queue = capped(&ex, fifth());
    queue.spawn(async {
        polls("a", 2, ms(25)).await;
        yield_now().await;
    });
    drain(&ex);
    queue.close();
    run_until(&ex, ms(99));
    assert_eq!(ex.stats().queues.len(), 2);
    run_until(&ex, ms(210));
    assert_eq!((ex.stats().queues.len(), starts("a")), (1, vec![ms(0), ms(100)]));
    assert_eq!(counts(&queue), (3, 2, ms(2 * 75)), "what it did is kept");
}

#[test]
fn a_shutdown_ends_the_tasks_of_a_throttled_queue_at_its_deadline() {
    let ex = world();
    let queue = capped(&ex, fifth());
    let task = queue.spawn(compute(ms(25)));
    drain(&ex);
    let report = ex.block_on_shutdown(ready(()));
    assert_eq!((report.cancelled, task.is_finished()), (1, true));
    assert_eq!((now(), queue.stats().ready), (ms(25), 0), "it was not polled for that");
    drop(ex);
    assert_eq!(queue.stats().throttled_periods, 1);
}
