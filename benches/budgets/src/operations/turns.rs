//! What the host's polls cost, and yields that do not happen.

use std::cell::RefCell;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use clockworker::{Executor, Step, should_yield, yield_if_due};
use tokio::task::LocalSet;

use super::wakes::{Waiting, wake};
use super::{Operation, RunsTasks, SIZES, run_until, timeless};
use crate::region::Region;

pub(super) const TABLE: &[Operation] = &[
    Operation::ours("idle_turn", "turn with nothing to do", |region| idle(&timeless(), region)),
    Operation::ours("turn_of_one_task", "the only task's wake, and a turn with its poll", |region| {
        of_one_task(&timeless(), region);
    }),
    Operation::ours("idle_step", "run_for with nothing to do", |region| steps(&timeless(), || {}, region)),
    Operation::ours("step_of_one_task", "the only task's wake, and run_for with its poll", |region| {
        let executor = timeless();
        steps(&executor, waking_one_task(&executor), region);
    }),
    // Time stands still.
    Operation::ours("yield_if_due", "yield_if_due, not due", |region| {
        let executor = timeless();
        for n in SIZES {
            region.count(n, &mut || {
                let task = executor.spawn(async move {
                    for _ in 0..n {
                        yield_if_due().await;
                    }
                });
                run_until(&executor, task).expect("the task neither panics nor is aborted");
            });
        }
    }),
    // In a task that has woken others of its queue, which does not make it due. Once more for each that the answer would
    // look at.
    Operation::ours("should_yield_beside_arrivals", "should_yield, not due, 1,000 tasks woken", |region| {
        let Waiting { executor, wakers } = Waiting::new(1_000);
        let wakers: Rc<[Waker]> = wakers.into();
        for n in SIZES {
            region.count(n, &mut || {
                let wakers = Rc::clone(&wakers);
                let task = executor.spawn(async move {
                    wake(&wakers);
                    (0..n).filter(|_| should_yield()).count()
                });
                let due = run_until(&executor, task).expect("the task neither panics nor is aborted");
                assert_eq!(due, 0);
            });
        }
    }),
    Operation::theirs("local_set_idle_turn", "LocalSet: turn with nothing to do", |region| {
        idle(&LocalSet::new(), region);
    }),
    Operation::theirs(
        "local_set_turn_of_one_task",
        "LocalSet: the only task's wake, and a turn with its poll",
        |region| of_one_task(&LocalSet::new(), region),
    ),
];

fn idle(tasks: &impl RunsTasks, region: &dyn Region) {
    turns(tasks, || {}, region);
}

/// The only task is woken between turns, as by what the host's visit brings.
fn of_one_task(tasks: &impl RunsTasks, region: &dyn Region) {
    turns(tasks, waking_one_task(tasks), region);
}

/// Spawns a task, and gives what wakes it.
fn waking_one_task<T: RunsTasks>(tasks: &T) -> impl Fn() + use<T> {
    let waker: Rc<RefCell<Option<Waker>>> = Rc::default();
    let known = Rc::clone(&waker);
    tasks.spawn(poll_fn(move |cx| {
        known.borrow_mut().get_or_insert_with(|| cx.waker().clone());
        Poll::Pending
    }));
    move || waker.borrow().iter().for_each(Waker::wake_by_ref)
}

/// Takes a step of the executor often, each time after `wake`.
fn steps(executor: &Executor, wake: impl Fn(), region: &dyn Region) {
    executor.on_ready(Waker::from(Arc::new(Deaf)));
    for n in SIZES {
        region.count(n, &mut || {
            for _ in 0..n {
                wake();
                assert_eq!(executor.run_for(Duration::from_millis(1)), Step::Idle);
            }
        });
    }
}

/// Polls what runs the tasks often, each time after `wake`.
fn turns(tasks: &impl RunsTasks, wake: impl Fn(), region: &dyn Region) {
    let host = Waker::from(Arc::new(Deaf));
    let mut cx = Context::from_waker(&host);
    for n in SIZES {
        let mut run = pin!(tasks.run_until(pending::<()>()));
        region.count(n, &mut || {
            for _ in 0..n {
                wake();
                assert!(run.as_mut().poll(&mut cx).is_pending());
            }
        });
    }
}

/// A host that is not to be woken. (A clone of `Waker::noop` is not known as one in unoptimised builds, whose tables of
/// functions have copies.)
struct Deaf;

impl Wake for Deaf {
    fn wake(self: Arc<Self>) {}
}
