//! [`RunUntil`]: an executor's run as a future.
//!
//! Several runs of an executor may be under way, beside each other or one inside a task of another, so each poll decides
//! anew. [`Run::poll`] **drives** if no other run does at the moment: it takes a turn of the executor. Otherwise it **rides**:
//! it polls its own future, and that is all. Three things keep every wake:
//!
//! * Each run's future has a waker of its own, which reaches the host of that run, whichever run drives.
//! * A task that is woken or sent wakes the host of the run that drove last.
//! * A run that ends wakes the hosts of all others, so one of them drives on.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use crate::run::{Core, RunWaker, context, poll_in_turn, turn};
use crate::sync::{Arc, waker_of};
use crate::task::{HostWaker, coop};

/// Runs an executor's tasks until a future is done. From [`Executor::run_until`](crate::Executor::run_until).
#[must_use = "futures do nothing unless polled"]
pub struct RunUntil<'a, F: Future> {
    core: &'a Rc<Core>,
    /// None once done.
    under_way: Option<(Run, Pin<Box<F>>)>,
    /// Kept for the next poll, where the awaiter had no budget when it was done.
    output: Option<F::Output>,
}

impl<'a, F: Future> RunUntil<'a, F> {
    #[track_caller]
    pub(crate) fn new(core: &'a Rc<Core>, future: F) -> Self {
        Self { core, under_way: Some((Run::new(core), Box::pin(future))), output: None }
    }
}

// The output is moved.
impl<F: Future> Unpin for RunUntil<'_, F> {}

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { core, under_way, .. } = &mut *self;
        let Some((run, future)) = under_way else { return Poll::Ready(self.take_kept()) };
        let output = ready!(run.poll(core, cx, |cx| future.as_mut().poll(cx)));
        self.end();
        if coop::poll_end_of_run(cx).is_pending() {
            self.output = Some(output);
            return Poll::Pending;
        }
        Poll::Ready(output)
    }
}

impl<F: Future> RunUntil<'_, F> {
    /// The output that was kept. It asks for no budget: another crate's `block_on` inside a task polls again without a new one.
    #[cold]
    fn take_kept(&mut self) -> F::Output {
        let Some(output) = self.output.take() else { panic!("`RunUntil` polled after completion") };
        output
    }

    /// Drops the future inside the executor's context, as its drop may spawn, and hands over to the other runs.
    fn end(&mut self) {
        let Some((_run, future)) = self.under_way.take() else { return };
        let _entered = context::enter(self.core);
        drop(future);
    }
}

impl<F: Future> Drop for RunUntil<'_, F> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<F: Future> fmt::Debug for RunUntil<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunUntil").field("done", &self.under_way.is_none()).finish_non_exhaustive()
    }
}

/// One of the runs of an executor.
pub(crate) struct Run {
    core: Rc<Core>,
    woken: Arc<RunWaker>,
    waker: Waker,
    /// None until the first poll.
    host: Option<HostWaker>,
    /// Polls of tasks that its future waits for, because it woke itself.
    waits_for: u32,
}

pub(super) const FAILED: &str =
    "a spawned task panicked and the executor is configured to shut down on unhandled panic";

impl Run {
    #[track_caller]
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        core.assert_own_process();
        let woken = core.add_run();
        Self { core: Rc::clone(core), waker: waker_of(Arc::clone(&woken)), woken, host: None, waits_for: 0 }
    }

    /// Polls the run's future by `poll` if it was woken, and drives the executor unless another run does.
    #[inline]
    pub(crate) fn poll<T>(
        &mut self,
        core: &Rc<Core>,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        // The run is awake: it need not be woken for what comes during the poll.
        self.woken.unregister();
        let _entered = context::enter(core);
        let driving = core.drivers.drive();
        let drives = driving.is_some();
        if drives {
            core.shared.inbox.unpark();
        }
        let host = HostWaker::keep(&mut self.host, cx.waker(), |old| {
            core.shared.inbox.take_back(old);
            core.deferral.forget_host();
        });
        let polled = if drives {
            core.main.wait_for(self.waits_for);
            let mut is_first = true;
            let polled = turn(core, host, || {
                // Before the look at this run's own flag: a wake in between sets both again.
                core.shared.main.take_woken();
                if self.woken.take() {
                    poll_in_turn(core, &self.waker, |cx| {
                        let _entered = context::enter_again(core, &mut is_first);
                        poll(cx)
                    })
                } else {
                    Poll::Pending
                }
            });
            self.waits_for = core.main.waits_for();
            polled
        } else if self.woken.take() {
            poll(&mut Context::from_waker(&self.waker))
        } else {
            Poll::Pending
        };
        drop(driving);
        core.assert_not_failed(FAILED);
        // If this run drove, its host is woken already, or will be for whatever comes, unless another run drives next.
        if polled.is_pending() && !(drives && (core.is_visiting() || core.drivers.is_only_run())) {
            self.woken.register(host);
        }
        polled
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.core.drivers.remove_run(&self.woken);
        let inbox = &self.core.shared.inbox;
        if let Some(host) = self.host.take() {
            self.woken.take_back(&host);
            inbox.let_go(host);
            self.core.deferral.forget_host();
        }
        self.core.drivers.wake_runs();
        // If this run's host was the one to be woken, it is another's from now on.
        inbox.wake_parked_host();
    }
}
