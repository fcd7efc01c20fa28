//! Waiters whose wakers and futures do what they should not.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker::{Executor, PolicyFault, Queue};

use crate::polled::{Polled, Waiter, full, poll};
use crate::support::*;

const DEEDS: [WakerCall; 3] = [WakerCall::Clone, WakerCall::Wake, WakerCall::Drop];

/// Has a waiter of a full queue with a waker that does something at a deed, then one behind it. Room comes, the first is polled or
/// leaves, and room comes again: the second must get it.
fn room_reaches_the_second(
    deed: WakerCall,
    leaves: bool,
    does: impl FnOnce(&Queue) + 'static,
) -> (Executor, Queue) {
    let ex = untimed();
    let (queue, mut tasks, _) = full(&ex, 1, 0);
    let inner = queue.clone();
    let hooked = HookedWaker::new(deed, move || does(&inner));
    let mut first = queue.spawn_when_room(pending::<()>());
    let _ = caught(|| poll(&mut first, &hooked.waker()).is_ready());
    let mut second = Polled::new(queue.spawn_when_room(pending()));
    let mut answer = second.poll();
    quietly(|| tasks.remove(0).abort());
    settle(&ex);
    let first = if leaves {
        drop(first);
        None
    } else {
        match caught(|| poll(&mut first, Waker::noop())) {
            Ok(Poll::Ready(Ok(task))) => Some(task),
            _ => None,
        }
    };
    settle(&ex);
    if let Some(task) = first {
        task.abort();
        settle(&ex);
    }
    if answer.is_pending() {
        assert_eq!(second.wakes.count(), 1, "woken once");
        answer = second.poll();
    }
    let Poll::Ready(answer) = answer else { panic!("the room was lost") };
    assert!(answer.is_ok() || queue.is_closed());
    assert!(hooked.is_done(), "{deed:?}");
    (ex, queue)
}

#[test]
fn a_waker_that_panics_loses_no_room() {
    for deed in DEEDS {
        for leaves in [false, true] {
            let (_ex, queue) = room_reaches_the_second(deed, leaves, |_| panic_as_meant("a waker"));
            assert_eq!(queue.stats().waiting, 0);
        }
    }
}

/// A clone, wake or drop of a waker makes room, takes room, or ends the queue.
#[test]
fn a_waker_that_uses_the_queue_loses_no_room() {
    let uses: [fn(&Queue); 5] = [
        |queue| queue.set_max_live(Some(2)).unwrap(),
        |queue| drop(queue.try_spawn(pending::<()>())),
        |queue| drop(queue.spawn(async {})),
        |queue| {
            let waits = poll_once(&mut queue.spawn_when_room(pending::<()>())).is_pending();
            assert!(waits || queue.max_live() == Some(2));
        },
        Queue::close,
    ];
    for deed in DEEDS {
        for does in uses {
            for leaves in [false, true] {
                let (_ex, queue) = room_reaches_the_second(deed, leaves, does);
                assert!(queue.stats().live <= queue.max_live().unwrap());
            }
        }
    }
}

#[test]
fn a_clone_that_makes_room_is_answered_at_once() {
    let ex = untimed();
    let (queue, _tasks, _) = full(&ex, 1, 0);
    let inner = queue.clone();
    let hooked = HookedWaker::new(WakerCall::Clone, move || inner.set_max_live(Some(2)).unwrap());
    let mut waiter = queue.spawn_when_room(pending::<()>());
    assert!(poll(&mut waiter, &hooked.waker()).is_ready(), "no one would wake it");
    assert_eq!((queue.stats().live, queue.stats().waiting), (2, 0));
}

/// A wake drops another waiter: one that waits, one that was called, one that comes next.
#[test]
fn a_wake_that_drops_another_waiter_passes_its_room_on() {
    // Room for three: the first, and the next two that are left.
    for (dropped, expected) in [(1, [0, 0, 1, 1, 0]), (2, [0, 1, 0, 1, 0]), (3, [0, 1, 1, 0, 0])] {
        let ex = untimed();
        let (queue, _tasks, _) = full(&ex, 1, 0);
        let waiters: Rc<RefCell<Vec<Option<Waiter>>>> = Rc::default();
        let inner = Rc::clone(&waiters);
        let hooked = HookedWaker::new(WakerCall::Wake, move || {
            let gone = inner.borrow_mut()[dropped].take();
            drop(gone);
        });
        let counted: Vec<_> = (0..5).map(|_| CountingWaker::new()).collect();
        for (i, (_, counting)) in counted.iter().enumerate() {
            let mut waiter = queue.spawn_when_room(pending());
            let hooked = hooked.waker();
            assert!(poll(&mut waiter, if i == 0 { &hooked } else { counting }).is_pending());
            waiters.borrow_mut().push(Some(waiter));
        }
        queue.set_max_live(Some(4)).unwrap();
        let woken: Vec<usize> = counted.iter().map(|(wakes, _)| wakes.count()).collect();
        assert_eq!(woken, expected, "{dropped} dropped");
        assert_eq!(queue.stats().waiting, 1);
        let left = waiters.take();
        let answers = left.into_iter().flatten().filter_map(|mut waiter| match poll_once(&mut waiter) {
            Poll::Ready(answer) => Some(answer.unwrap()),
            Poll::Pending => None,
        });
        assert_eq!((answers.count(), queue.stats().live), (3, 4));
    }
}

/// The drop of a waiting future spawns, waits for room, or closes the queue.
#[test]
fn a_future_whose_drop_uses_the_queue() {
    let uses: [fn(&Queue); 4] = [
        |queue| drop(queue.spawn(pending::<()>())),
        |queue| assert!(queue.try_spawn(pending::<()>()).is_err()),
        |queue| assert!(poll_once(&mut queue.spawn_when_room(pending::<()>())).is_pending()),
        Queue::close,
    ];
    for does in uses {
        let ex = untimed();
        let (queue, mut tasks, _) = full(&ex, 1, 0);
        let inner = queue.clone();
        let mut waiter = queue.spawn_when_room(hold(OnDrop::new(move || does(&inner))));
        assert!(poll_once(&mut waiter).is_pending());
        drop(waiter);
        tasks.remove(0).abort();
        settle(&ex);
        assert_eq!((queue.stats().waiting, queue.stats().live), (0, 0));
        assert!(queue.is_closed() || queue.try_spawn(async {}).is_ok(), "no room was lost");
    }
}

/// The last task's drop takes part: it waits for the room that it makes, and gets it.
#[test]
fn a_task_whose_drop_waits_for_its_own_room() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live(1).create().unwrap();
    let (inner, kept) = (queue.clone(), Rc::new(RefCell::new(None)));
    let keeps = Rc::clone(&kept);
    // The task is there until it is dropped.
    let on_drop = move || drop(keeps.replace(Some(Polled::waiting(inner.spawn_when_room(pending())))));
    let task = queue.spawn(hold(OnDrop::new(on_drop)));
    settle(&ex);
    task.abort();
    settle(&ex);
    let mut waiter = kept.take().unwrap();
    assert_eq!(waiter.wakes.count(), 1);
    assert!(waiter.poll().is_ready());
}

/// While it is asked for a task.
#[test]
fn a_scheduler_that_drops_a_waiter_passes_its_room_on() {
    for (called, grouped) in [(false, false), (false, true), (true, false), (true, true)] {
        let ex = untimed();
        let (held, at) = (Rc::new(RefCell::new(None::<Waiter>)), Rc::new(Cell::new(false)));
        let (drops, now) = (Rc::clone(&held), Rc::clone(&at));
        let spy: Spy = Spy::fifo().listening(move |call| {
            if let Call::Pop(_) = call
                && now.take()
            {
                let held = drops.take();
                drop(held);
            }
        });
        let queue = ex.new_queue("q").max_live(3).max_live_per_group(1).scheduler(spy).create().unwrap();
        let waiter = || match grouped {
            true => queue.group(1).spawn_when_room(pending()),
            false => queue.spawn_when_room(pending()),
        };
        let task = match grouped {
            true => queue.group(1).try_spawn(pending::<()>()).unwrap(),
            false => queue.try_spawn(pending::<()>()).unwrap(),
        };
        let works = [(); 2].map(|()| queue.spawn(yields(20)));
        let first = Polled::waiting(waiter());
        let mut second = Polled::waiting(waiter());
        if called {
            task.abort();
            tick(&ex);
        }
        held.replace(Some(first.waiter));
        at.set(true);
        drop(queue.try_spawn(async {}));
        if !called {
            task.abort();
        }
        quietly(|| settle(&ex));
        works.into_iter().for_each(|task| output(task).unwrap());
        assert!(held.borrow().is_none(), "it was dropped in `pop`");
        // The waiter holds its group, and dropping that in a scheduler is a fault of the scheduler.
        let fault = grouped.then_some(PolicyFault::Panicked);
        let case = format!("called {called}, grouped {grouped}");
        assert_eq!((queue.stats().policy_fault, second.wakes.count()), (fault, 1), "{case}");
        assert!(second.poll().is_ready());
    }
}

#[test]
fn a_waker_is_cloned_once_while_it_stays_the_same() {
    let ex = untimed();
    let (queue, _tasks, _) = full(&ex, 1, 0);
    let mut waiter = queue.spawn_when_room(pending::<()>());
    // A second clone would take the place of the first, which would be dropped.
    let hooked = HookedWaker::new(WakerCall::Drop, || {});
    for _ in 0..3 {
        assert!(poll(&mut waiter, &hooked.waker()).is_pending() && !hooked.is_done());
    }
    let (wakes, other) = CountingWaker::new();
    assert!(poll(&mut waiter, &other).is_pending() && hooked.is_done());
    queue.set_max_live(None).unwrap();
    assert_eq!(wakes.count(), 1, "the last waker is the one that is woken");
}
