//! What the host's polls cost, and yields that do not happen.

use std::cell::RefCell;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use clockworker::schedulers::RunnableFifo;
use clockworker::{ManualClock, should_yield, yield_if_due};
use tokio::task::LocalSet;

use super::{Workload, executor, run_dry, run_until};

pub(super) fn idle() -> Workload {
    let executor = executor(&ManualClock::new(), RunnableFifo::new());
    Box::new(move |n, region| {
        let mut run = pin!(executor.run_until(pending::<()>()));
        region.count(n, &mut || poll_often(run.as_mut(), n));
    })
}

pub(super) fn local_set_idle() -> Workload {
    let local = LocalSet::new();
    Box::new(move |n, region| {
        let mut run = pin!(local.run_until(pending::<()>()));
        region.count(n, &mut || poll_often(run.as_mut(), n));
    })
}

/// The only task is woken between turns, as by what the host's visit brings.
pub(super) fn of_one_task() -> Workload {
    let executor = executor(&ManualClock::new(), RunnableFifo::new());
    let woken = Woken::default();
    executor.spawn(woken.task());
    Box::new(move |n, region| {
        let mut run = pin!(executor.run_until(pending::<()>()));
        region.count(n, &mut || woken.poll_often(run.as_mut(), n));
    })
}

pub(super) fn local_set_of_one_task() -> Workload {
    let local = LocalSet::new();
    let woken = Woken::default();
    local.spawn_local(woken.task());
    Box::new(move |n, region| {
        let mut run = pin!(local.run_until(pending::<()>()));
        region.count(n, &mut || woken.poll_often(run.as_mut(), n));
    })
}

/// A task that only waits, and its waker.
#[derive(Clone, Default)]
struct Woken(Rc<RefCell<Option<Waker>>>);

impl Woken {
    fn task(&self) -> impl Future<Output = ()> + use<> {
        let Woken(waker) = self.clone();
        poll_fn(move |cx| {
            waker.borrow_mut().get_or_insert_with(|| cx.waker().clone());
            Poll::Pending
        })
    }

    fn poll_often(&self, mut run: std::pin::Pin<&mut impl Future>, n: u64) {
        let host = Waker::from(Arc::new(Nobody));
        let mut cx = Context::from_waker(&host);
        for _ in 0..n {
            self.0.borrow().iter().for_each(Waker::wake_by_ref);
            assert!(run.as_mut().poll(&mut cx).is_pending());
        }
    }
}

/// A host that is not to be woken.
struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

fn poll_often(mut run: std::pin::Pin<&mut impl Future>, n: u64) {
    // A clone of `Waker::noop` is not known as one in unoptimised builds, whose tables of functions have copies.
    let waker = Waker::from(Arc::new(Nobody));
    let mut cx = Context::from_waker(&waker);
    for _ in 0..n {
        assert!(run.as_mut().poll(&mut cx).is_pending());
    }
}

/// How many tasks of its own queue a task has woken that asks whether it is due.
const WOKEN: usize = 1_000;

/// In a task that has woken others, which does not make it due. Once more for each that the answer would look at.
pub(super) fn not_due_beside_arrivals() -> Workload {
    let executor = executor(&ManualClock::new(), RunnableFifo::new());
    let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
    for _ in 0..WOKEN {
        let wakers = Rc::clone(&wakers);
        let mut is_known = false;
        executor.spawn(poll_fn(move |cx| {
            if !is_known {
                is_known = true;
                wakers.borrow_mut().push(cx.waker().clone());
            }
            Poll::<()>::Pending
        }));
    }
    run_dry(&executor);
    Box::new(move |n, region| {
        let wakers = Rc::clone(&wakers);
        region.count(n, &mut || {
            let wakers = Rc::clone(&wakers);
            let task = executor.spawn(async move {
                wakers.borrow().iter().for_each(Waker::wake_by_ref);
                (0..n).filter(|_| should_yield()).count()
            });
            let due = run_until(&executor, task).expect("the task neither panics nor is aborted");
            assert_eq!(due, 0);
        });
    })
}

/// In a task that is not due as time stands still.
pub(super) fn not_due() -> Workload {
    let executor = executor(&ManualClock::new(), RunnableFifo::new());
    Box::new(move |n, region| {
        region.count(n, &mut || {
            let task = executor.spawn(async move {
                for _ in 0..n {
                    yield_if_due().await;
                }
            });
            run_until(&executor, task).expect("the task neither panics nor is aborted");
        });
    })
}
