//! Caps that are changed, and capped queues whose tasks are aborted, that are closed and shut down.

use std::cell::RefCell;
use std::future::{pending, ready};
use std::rc::Rc;

use clockworker::{Cap, Executor, Queue, yield_now};

use super::super::shares::SECOND;
use super::{cap, capped, counts, fifth, ms, ticking, work};
use crate::support::{OnDrop, Spans, VirtualTime, compute, us};

#[test]
fn a_cap_may_be_changed_midway() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(1)]));
    let per_period =
        |from: u64| (from..from + 3).map(|period| spans.within(ms(100 * period), ms(100 * period + 100)));
    sim.run(&ex, ticking(&sim, ms(1), ms(50)));
    // It has used 20, so 30 are left of the 50, and it goes on at once.
    queue.set_cap(Some(cap(ms(50), ms(100)))).unwrap();
    sim.run(&ex, ticking(&sim, ms(1), ms(300)));
    assert_eq!(Vec::from_iter(per_period(0)), [50, 50, 50].map(ms));
    // A smaller one, in the middle of its work: it has used 30, so it pays for 20 of them.
    sim.run(&ex, ticking(&sim, ms(1), ms(330)));
    queue.set_cap(Some(cap(ms(10), ms(100)))).unwrap();
    sim.run(&ex, ticking(&sim, ms(1), ms(600)));
    assert_eq!(Vec::from_iter(per_period(3)), [30, 0, 0].map(ms));
    // None, and one of its own length, which begins when it is set.
    queue.set_cap(None).unwrap();
    sim.run(&ex, ticking(&sim, ms(1), ms(700)));
    assert!(spans.within(ms(600), ms(700)) >= ms(99));
    queue.set_cap(Some(cap(ms(5), ms(50)))).unwrap();
    let from = sim.now();
    sim.run(&ex, ticking(&sim, ms(1), from + ms(149)));
    let got: Vec<_> =
        (0..3).map(|period| spans.within(from + ms(50 * period), from + ms(50 * period + 50))).collect();
    assert_eq!(got, [5, 5, 5].map(ms));
}

/// A task caps its own queue, or another's, which is running or throttled.
#[test]
fn tasks_may_change_caps() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = ex.new_queue("a").create().unwrap();
    let own = queue.clone();
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move {
        for poll in 0..20 {
            match poll {
                3 => own.set_cap(Some(cap(ms(2), ms(100)))).unwrap(),
                6 => own.set_cap(None).unwrap(),
                _ => {}
            }
            spans2.work(&sim2, ms(1));
            yield_now().await;
        }
    });
    sim.run(&ex, ticking(&sim, ms(1), ms(400)));
    // It is capped from 3 on: two polls, and the next when the period is over. That one takes the cap away.
    let starts: Vec<_> = [0, 1, 2, 3, 4].into_iter().chain(103..105).collect();
    assert_eq!(spans.starts()[..7], starts.into_iter().map(ms).collect::<Vec<_>>());
    assert_eq!(counts(&queue), (2, 1, ms(98)));
    // Throttled, until a task of another queue raises its cap.
    queue.set_cap(Some(cap(ms(1), SECOND))).unwrap();
    let spans = Spans::new();
    queue.spawn(work(&sim, &spans, vec![ms(1)]));
    let (sim2, queue2) = (sim.clone(), queue.clone());
    let at = sim.now();
    ex.spawn(async move {
        for poll in 0..10 {
            if poll == 5 {
                queue2.set_cap(Some(cap(ms(4), SECOND))).unwrap();
            }
            sim2.work(ms(1));
            yield_now().await;
        }
    });
    sim.run(&ex, ticking(&sim, ms(1), at + ms(100)));
    assert_eq!(spans.starts().len(), 4);
    assert!(spans.starts()[1] >= at + ms(6), "{:?}", spans.starts());
}

// ---- Aborts, closing, shutdown

#[test]
fn a_throttled_queue_drops_aborted_tasks_at_once_and_its_cap_pays() {
    let (sim, spans, dropped) = (VirtualTime::new(), Spans::new(), Rc::new(RefCell::new(Vec::new())));
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(30)]));
    let guard = |length| {
        let (sim, dropped) = (sim.clone(), Rc::clone(&dropped));
        OnDrop::new(move || {
            dropped.borrow_mut().push(sim.now());
            sim.work(length);
        })
    };
    let victims = [5, 5, 5].map(|length| {
        let guard = guard(ms(length));
        queue.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        })
    });
    sim.run(&ex, ticking(&sim, ms(1), ms(40)));
    victims.iter().for_each(|victim| victim.abort());
    sim.run(&ex, ticking(&sim, ms(1), ms(250)));
    // 45 of 20 are used in the first period, so the second is for the debt.
    assert_eq!(dropped.take(), [40, 45, 50].map(ms));
    assert_eq!(spans.starts(), [0, 200].map(ms));
    assert!(victims.iter().all(|victim| victim.is_finished()));
}

#[test]
fn a_throttled_queue_may_be_closed_and_goes_when_its_tasks_are_done() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move {
        for _ in 0..2 {
            spans2.work(&sim2, ms(25));
            yield_now().await;
        }
    });
    sim.drain(&ex);
    queue.close();
    sim.run(&ex, ticking(&sim, ms(1), ms(99)));
    assert_eq!(ex.stats().queues.len(), 2);
    sim.run(&ex, ticking(&sim, ms(1), ms(210)));
    assert_eq!((ex.stats().queues.len(), spans.starts()), (1, vec![ms(0), ms(100)]));
    assert_eq!(counts(&queue), (3, 2, ms(2 * 75)), "what it did is kept");
}

#[test]
fn a_shutdown_ends_the_tasks_of_a_throttled_queue_at_its_deadline() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let task = queue.spawn(compute(&sim, ms(25)));
    sim.drain(&ex);
    let report = ex.block_on_shutdown(ready(()));
    assert_eq!((report.cancelled, task.is_finished()), (1, true));
    assert_eq!((sim.now(), queue.stats().ready), (ms(25), 0), "it was not polled for that");
    drop(ex);
    assert_eq!(queue.stats().throttled_periods, 1);
}

// ---- Anything at any time

/// Numbers from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A queue that may be capped, idle, both or neither.
fn any_queue(ex: &Executor, name: u64, draws: &mut Draws) -> Queue {
    let name = name.to_string();
    let mut queue = ex.new_queue(&name).share(1 + draws.below(5) as u32).request(us(1 + draws.below(500)));
    if draws.below(2) == 0 {
        queue = queue.idle();
    }
    if draws.below(2) == 0 {
        queue = queue.cap(any_cap(draws));
    }
    queue.create().unwrap()
}

fn any_cap(draws: &mut Draws) -> Cap {
    let (quota, longer) = (1 + draws.below(200), draws.below(800));
    cap(us(quota), us(quota + longer)).with_burst(us(draws.below(quota))).unwrap()
}

/// Spawns, aborts, changes, closes and creates, at times that are drawn; whatever is left is shut down.
fn anything(seed: u64) {
    let (sim, draws) = (VirtualTime::new(), &mut Draws(seed));
    let ex = sim.executor();
    let mut queues: Vec<_> = (0..4).map(|name| any_queue(&ex, name, draws)).collect();
    let mut tasks = Vec::new();
    for step in 0..150 {
        let at = draws.below(4) as usize;
        match draws.below(12) {
            0..6 => {
                let (sim, polls, poll) = (sim.clone(), draws.below(4), us(draws.below(150)));
                let guard = OnDrop::new({
                    let (sim, takes) = (sim.clone(), us(draws.below(60)));
                    move || sim.work(takes)
                });
                tasks.push(queues[at].spawn(async move {
                    let _guard = guard;
                    for _ in 0..polls {
                        sim.work(poll);
                        yield_now().await;
                        sim.sleep(poll).await;
                    }
                }));
            }
            6 | 7 if !tasks.is_empty() => tasks.swap_remove(draws.below(tasks.len() as u64) as usize).abort(),
            8 => queues[at].set_cap(Some(any_cap(draws))).unwrap(),
            9 => queues[at].set_cap(None).unwrap(),
            10 => queues[at].set_share(1 + draws.below(9) as u32).unwrap(),
            _ => {
                queues[at].close();
                queues[at] = any_queue(&ex, 10 + step, draws);
            }
        }
        let end = sim.now() + us(draws.below(200));
        sim.run(&ex, ticking(&sim, us(50), end));
        let stats = ex.stats();
        assert_eq!(stats.busy + stats.main + stats.own + stats.host, sim.now());
        assert_eq!(stats.spawned, stats.completed + stats.cancelled + stats.live as u64);
    }
    // All can go on, and end.
    queues.iter().for_each(|queue| queue.set_cap(None).unwrap());
    queues.iter().for_each(Queue::close);
    if seed.is_multiple_of(2) {
        let end = sim.now() + SECOND;
        sim.run(&ex, ticking(&sim, us(1_000), end));
        assert_eq!((ex.stats().live, ex.stats().queues.len()), (0, 1));
    } else {
        ex.block_on_shutdown(ready(()));
        assert_eq!(ex.stats().live, 0);
    }
}

#[test]
fn the_books_balance_whatever_is_done_to_constrained_queues() {
    for seed in 0..300 {
        let run = || anything(seed);
        if std::panic::catch_unwind(run).is_err() {
            panic!("seed {seed}");
        }
    }
}
