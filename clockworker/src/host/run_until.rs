//! `run_until` as a future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::run::{Core, context, poll_in_turn, turn};
use crate::task::HostWaker;

/// Runs an executor's tasks until a future is done. From [`Executor::run_until`](crate::Executor::run_until).
#[must_use = "futures do nothing unless polled"]
pub struct RunUntil<'a, F> {
    core: &'a Rc<Core>,
    /// None once done.
    future: Option<Pin<Box<F>>>,
    /// None until the first poll, and once done.
    claim: Option<Claim<'a>>,
}

impl<'a, F: Future> RunUntil<'a, F> {
    pub(crate) fn new(core: &'a Rc<Core>, future: F) -> Self {
        Self { core, future: Some(Box::pin(future)), claim: None }
    }

    /// Claims the executor before the first poll does.
    #[track_caller]
    pub(crate) fn claim(&mut self) {
        Claim::take(self.core, &mut self.claim);
    }
}

const FAILED: &str = "a spawned task panicked and the executor is configured to shut down on unhandled panic";

const ALREADY_DRIVEN: &str = "this executor is being run already: `run_until`, `block_on` and `shutdown` cannot be used \
     inside one of its own tasks, or while another of them is under way (await a `JoinHandle` instead, or spawn)";

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { core, future, claim } = &mut *self;
        let Some(future) = future else { panic!("`RunUntil` polled after completion") };
        let Claim { host, .. } = Claim::take(core, claim);
        core.shared.inbox.unpark();
        let _entered = context::enter(core);
        let host = HostWaker::keep(host, cx.waker(), |old| core.shared.inbox.take_back(old));
        let mut is_first = true;
        let polled = turn(core, host, || match core.main.flag.take_woken() {
            true => poll_in_turn(core, &core.main.waker, |cx| {
                let _entered = context::enter_again(core, &mut is_first);
                future.as_mut().poll(cx)
            }),
            false => Poll::Pending,
        });
        core.assert_not_failed(polled.is_ready(), FAILED);
        if polled.is_ready() {
            self.end();
        }
        polled
    }
}

impl<F> RunUntil<'_, F> {
    /// Drops the future where what it drops may spawn, and lets another driver in.
    fn end(&mut self) {
        let _claim = self.claim.take();
        let _entered = context::enter(self.core);
        self.future = None;
    }
}

impl<F> Drop for RunUntil<'_, F> {
    fn drop(&mut self) {
        self.end();
    }
}

/// The right to drive the executor, and the host it is driven in. Dropping it lets another driver in and lets go of the host,
/// also where the future's drop panics.
struct Claim<'a> {
    core: &'a Core,
    /// None until the first poll.
    host: Option<HostWaker>,
}

impl<'a> Claim<'a> {
    /// Takes it, unless it was taken already. Only one future may drive the executor at a time, in the process that it was made
    /// in.
    #[track_caller]
    fn take<'c>(core: &'a Core, claim: &'c mut Option<Self>) -> &'c mut Self {
        core.process.assert_current();
        claim.get_or_insert_with(|| {
            assert!(core.drivers.begin(), "{ALREADY_DRIVEN}");
            core.main.flag.set_woken();
            core.main.wait_for(0);
            Claim { core, host: None }
        })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let inbox = &self.core.shared.inbox;
        inbox.unpark();
        self.core.drivers.end();
        self.core.drivers.wake_runs();
        if let Some(host) = self.host.take() {
            inbox.let_go(host);
        }
    }
}

impl<F> fmt::Debug for RunUntil<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunUntil").field("drives", &self.claim.is_some()).finish_non_exhaustive()
    }
}
