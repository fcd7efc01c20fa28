//! Several runs of one executor at once.
//!
//! An [`Executor`](crate::Executor) has one driver at a time, and says so if there is a second. A `LocalSet` may have
//! several `run_until` under way, beside each other or one inside a task of another, so here it is decided anew at each
//! poll: whoever is polled while nobody else is at it **drives**, that is, takes a turn of the executor; otherwise it
//! **rides**: its future is polled, and that is all. Three things keep every wake:
//!
//! * Each run's future has a waker of its own, which reaches the host of that run, whoever drives.
//! * What arrives for the executor wakes the host of the run that drove last.
//! * A run that ends wakes the hosts of all others, so one of them drives on.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::run::{self, Core, RunWaker, context};
use crate::sync::{Arc, waker_of};
use crate::task::HostWaker;

/// Runs a set's tasks until a future is done. From [`LocalSet::run_until`](super::LocalSet::run_until).
#[must_use = "futures do nothing unless polled"]
pub struct RunUntil<'a, F> {
    core: &'a Rc<Core>,
    /// None once done.
    under_way: Option<(Run, Pin<Box<F>>)>,
}

impl<'a, F: Future> RunUntil<'a, F> {
    pub(super) fn new(core: &'a Rc<Core>, future: F) -> Self {
        Self { core, under_way: Some((Run::new(core), Box::pin(future))) }
    }
}

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { core, under_way } = &mut *self;
        let Some((run, future)) = under_way else { panic!("`RunUntil` polled after completion") };
        let polled = run.poll(core, cx, |cx| future.as_mut().poll(cx));
        if polled.is_ready() {
            self.end();
        }
        polled
    }
}

impl<F> RunUntil<'_, F> {
    /// Drops the future where what it drops may spawn, and hands over to the other runs.
    fn end(&mut self) {
        let Some((_run, future)) = self.under_way.take() else { return };
        let _entered = context::enter(self.core);
        drop(future);
    }
}

impl<F> Drop for RunUntil<'_, F> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<F> fmt::Debug for RunUntil<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunUntil").field("done", &self.under_way.is_none()).finish_non_exhaustive()
    }
}

/// One run: a future's place among those that the executor is run for.
pub(super) struct Run {
    core: Rc<Core>,
    woken: Arc<RunWaker>,
    waker: Waker,
    /// None until the first poll.
    host: Option<HostWaker>,
    /// Polls of tasks that its future waits for, because it woke itself.
    waits_for: u32,
}

impl Run {
    pub(super) fn new(core: &Rc<Core>) -> Self {
        let woken = RunWaker::new(&core.main.flag);
        core.drivers.add_run(&woken);
        // If there was one run only, it relies on being the one that drove last.
        core.shared.inbox.wake_parked_host();
        let waker = waker_of(Arc::clone(&woken));
        Self { core: Rc::clone(core), waker, woken, host: None, waits_for: 0 }
    }

    /// Polls the run's future by `poll` if it was woken, and drives the executor unless somebody does.
    pub(super) fn poll<T>(
        &mut self,
        core: &Rc<Core>,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        core.process.assert_current();
        // It is awake: no need to wake it for what comes during the poll.
        self.woken.wait_no_more();
        let _entered = context::enter(core);
        let wheel = Wheel::take(core);
        let host = HostWaker::keep(&mut self.host, cx.waker(), |old| core.shared.inbox.take_back(old));
        let drives = wheel.is_some();
        let polled = if drives {
            // Takes a turn of the executor.
            core.main.wait_for(self.waits_for);
            let mut is_first = true;
            let polled = run::turn(core, host, || {
                // Before the look at this run's own flag: a wake in between sets both again.
                core.main.flag.take_woken();
                if self.woken.take() {
                    run::poll_in_turn(core, &self.waker, |cx| {
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
        drop(wheel);
        core.assert_not_failed(polled.is_ready(), FAILED);
        // If it drove, its host is woken already, or will be for whatever comes, unless another run drives next.
        if polled.is_pending() && !(drives && (core.is_visiting() || core.drivers.is_only_run())) {
            self.woken.wait(host);
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
        }
        self.core.drivers.wake_runs();
        // If it was this run's host that would be woken for what comes, it is another's from now on.
        inbox.wake_parked_host();
    }
}

const FAILED: &str = "a spawned task panicked and the LocalSet is configured to shutdown on unhandled panic";

/// The right to drive, for one poll.
struct Wheel<'a>(&'a Core);

impl<'a> Wheel<'a> {
    fn take(core: &'a Core) -> Option<Self> {
        if !core.drivers.begin() {
            return None;
        }
        core.shared.inbox.unpark();
        Some(Wheel(core))
    }
}

impl Drop for Wheel<'_> {
    fn drop(&mut self) {
        self.0.drivers.end();
    }
}
