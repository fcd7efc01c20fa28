//! Waiters whose wakers and futures do what they should not.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, PolicyFault, Queue, SpawnWhenRoom};

use crate::support::{
    CountingWaker, Deed, HookedWaker, OnDrop, caught, output, panic_as_meant, poll_once, quietly, settle,
    tick, untimed, yields,
};

const DEEDS: [Deed; 3] = [Deed::Clone, Deed::Wake, Deed::Drop];

type Waiter = SpawnWhenRoom<std::future::Pending<()>>;

fn full(ex: &Executor) -> (Queue, JoinHandle<()>) {
    let queue = ex.new_queue("q").max_live(1).create().unwrap();
    let task = queue.try_spawn(pending()).unwrap();
    settle(ex);
    (queue, task)
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Has a waiter with a waker that does something at a deed, then one behind it. Room comes, the first is polled or leaves, and
/// room comes again: the second must get it.
fn room_reaches_the_second(
    ex: &Executor,
    queue: &Queue,
    task: JoinHandle<()>,
    hooked: &HookedWaker,
    leaves: bool,
) {
    let mut first = queue.spawn_when_room(pending::<()>());
    let _ = caught(|| poll(&mut first, &hooked.waker()).is_ready());
    let (wakes, waker) = CountingWaker::new();
    let mut second = queue.spawn_when_room(pending::<()>());
    let mut answer = poll(&mut second, &waker);
    quietly(|| task.abort());
    settle(ex);
    let first = if leaves {
        drop(first);
        None
    } else {
        match caught(|| poll(&mut first, Waker::noop())) {
            Ok(Poll::Ready(Ok(task))) => Some(task),
            _ => None,
        }
    };
    settle(ex);
    if let Some(task) = first {
        task.abort();
        settle(ex);
    }
    if answer.is_pending() {
        assert_eq!(wakes.count(), 1, "woken once");
        answer = poll(&mut second, &waker);
    }
    let Poll::Ready(answer) = answer else { panic!("the room was lost") };
    assert!(answer.is_ok() || queue.is_closed());
}

#[test]
fn a_waker_that_panics_loses_no_room() {
    for deed in DEEDS {
        for leaves in [false, true] {
            let ex = untimed();
            let (queue, task) = full(&ex);
            let hooked = HookedWaker::new(deed, || panic_as_meant("a waker"));
            room_reaches_the_second(&ex, &queue, task, &hooked, leaves);
            assert!(hooked.is_done(), "{deed:?}");
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
            assert!(
                poll_once(&mut queue.spawn_when_room(pending::<()>())).is_pending()
                    || queue.max_live() == Some(2)
            )
        },
        Queue::close,
    ];
    for deed in DEEDS {
        for (i, does) in uses.into_iter().enumerate() {
            for leaves in [false, true] {
                let ex = untimed();
                let (queue, task) = full(&ex);
                let inner = queue.clone();
                let hooked = HookedWaker::new(deed, move || does(&inner));
                room_reaches_the_second(&ex, &queue, task, &hooked, leaves);
                assert!(hooked.is_done(), "{deed:?} {i}");
                assert!(queue.stats().live <= queue.max_live().unwrap());
            }
        }
    }
}

#[test]
fn a_clone_that_makes_room_is_answered_at_once() {
    let ex = untimed();
    let (queue, _task) = full(&ex);
    let inner = queue.clone();
    let hooked = HookedWaker::new(Deed::Clone, move || inner.set_max_live(Some(2)).unwrap());
    let mut waiter = queue.spawn_when_room(pending::<()>());
    assert!(poll(&mut waiter, &hooked.waker()).is_ready(), "no one would wake it");
    assert_eq!((queue.stats().live, queue.stats().waiting), (2, 0));
}

/// A wake drops another waiter: one that waits, one that was called, one that comes next.
#[test]
fn a_wake_that_drops_another_waiter_passes_its_room_on() {
    for dropped in 1..4 {
        let ex = untimed();
        let (queue, _task) = full(&ex);
        let waiters: Rc<RefCell<Vec<Option<Waiter>>>> = Rc::default();
        let inner = Rc::clone(&waiters);
        let hooked = HookedWaker::new(Deed::Wake, move || {
            let gone = inner.borrow_mut()[dropped].take();
            drop(gone);
        });
        let counted: Vec<_> = (0..5).map(|_| CountingWaker::new()).collect();
        for (i, (_, counting)) in counted.iter().enumerate() {
            let mut waiter = queue.spawn_when_room(pending());
            let hooked = hooked.waker();
            let waker = if i == 0 { &*hooked } else { counting };
            assert!(poll(&mut waiter, waker).is_pending());
            waiters.borrow_mut().push(Some(waiter));
        }
        queue.set_max_live(Some(4)).unwrap();
        // Room for three: the first, and the next two that are left.
        let woken: Vec<usize> = counted.iter().map(|(wakes, _)| wakes.count()).collect();
        let mut expected = vec![0, 1, 1, 1, 0];
        expected[dropped] = 0;
        if dropped == 3 {
            expected = vec![0, 1, 1, 0, 0];
        }
        assert_eq!(woken, expected, "{dropped} dropped");
        assert_eq!(queue.stats().waiting, 1);
        let answers = waiters
            .borrow_mut()
            .iter_mut()
            .flatten()
            .filter_map(|waiter| match poll_once(waiter) {
                Poll::Ready(answer) => Some(answer.unwrap()),
                Poll::Pending => None,
            })
            .count();
        assert_eq!((answers, queue.stats().live), (3, 4));
        waiters.borrow_mut().clear();
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
        let (queue, task) = full(&ex);
        let inner = queue.clone();
        let on_drop = OnDrop::new(move || does(&inner));
        let mut waiter = queue.spawn_when_room(async move {
            let _on_drop = on_drop;
            pending::<()>().await;
        });
        assert!(poll_once(&mut waiter).is_pending());
        drop(waiter);
        task.abort();
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
    let (wakes, waker) = CountingWaker::new();
    let keeps = Rc::clone(&kept);
    let on_drop = OnDrop::new(move || {
        let mut waiter = inner.spawn_when_room(pending::<()>());
        assert!(poll(&mut waiter, &waker).is_pending(), "the task is there until it is dropped");
        *keeps.borrow_mut() = Some(waiter);
    });
    let task = queue.spawn(async move {
        let _on_drop = on_drop;
        pending::<()>().await;
    });
    settle(&ex);
    task.abort();
    settle(&ex);
    assert_eq!(wakes.count(), 1);
    let mut waiter = kept.borrow_mut().take().unwrap();
    assert!(poll_once(&mut waiter).is_ready());
}

/// A scheduler that drops a waiter while it is asked for a task.
struct DropsIn {
    fifo: RunnableFifo,
    holds: Rc<RefCell<Option<Waiter>>>,
    at: Rc<Cell<bool>>,
}

impl Scheduler for DropsIn {
    fn push(&mut self, task: Task, why: Ready) {
        self.fifo.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        if self.at.replace(false) {
            let held = self.holds.borrow_mut().take();
            drop(held);
        }
        self.fifo.pop()
    }
}

#[test]
fn a_scheduler_that_drops_a_waiter_passes_its_room_on() {
    for called in [false, true] {
        for grouped in [false, true] {
            let ex = untimed();
            let (holds, at) = (Rc::default(), Rc::new(Cell::new(false)));
            let scheduler =
                DropsIn { fifo: RunnableFifo::new(), holds: Rc::clone(&holds), at: Rc::clone(&at) };
            let queue =
                ex.new_queue("q").max_live(3).max_live_per_group(1).scheduler(scheduler).create().unwrap();
            let waiter = || match grouped {
                true => queue.group(1).spawn_when_room(pending()),
                false => queue.spawn_when_room(pending()),
            };
            let task = match grouped {
                true => queue.group(1).try_spawn(pending::<()>()).unwrap(),
                false => queue.try_spawn(pending::<()>()).unwrap(),
            };
            let works = queue.spawn(yields(20));
            drop(queue.spawn(yields(20)));
            let mut first = waiter();
            assert!(poll_once(&mut first).is_pending());
            let (wakes, waker) = CountingWaker::new();
            let mut second = waiter();
            assert!(poll(&mut second, &waker).is_pending());
            if called {
                task.abort();
                tick(&ex);
            }
            *holds.borrow_mut() = Some(first);
            at.set(true);
            drop(queue.try_spawn(async {}));
            if !called {
                task.abort();
            }
            quietly(|| settle(&ex));
            output(works).unwrap();
            assert!(holds.borrow().is_none(), "it was dropped in `pop`");
            // The waiter holds its group, and dropping that in a scheduler is a fault of the scheduler.
            let fault = grouped.then_some(PolicyFault::Panicked);
            let case = format!("called {called}, grouped {grouped}");
            assert_eq!((queue.stats().policy_fault, wakes.count()), (fault, 1), "{case}");
            assert!(poll(&mut second, &waker).is_ready());
        }
    }
}

#[test]
fn a_waker_is_cloned_once_while_it_stays_the_same() {
    let ex = untimed();
    let (queue, _task) = full(&ex);
    let mut waiter = queue.spawn_when_room(pending::<()>());
    let cloned = Rc::new(Cell::new(0));
    let count = Rc::clone(&cloned);
    let hooked = HookedWaker::new(Deed::Clone, move || count.set(count.get() + 1));
    let waker: ManuallyDrop<Waker> = hooked.waker();
    for _ in 0..3 {
        assert!(poll(&mut waiter, &waker).is_pending());
    }
    assert_eq!(cloned.get(), 1);
    let (wakes, other) = CountingWaker::new();
    assert!(poll(&mut waiter, &other).is_pending());
    queue.set_max_live(None).unwrap();
    assert_eq!(wakes.count(), 1, "the last waker is the one that is woken");
}
