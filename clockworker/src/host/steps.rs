//! [`Steps`]: an executor that a foreign loop runs, step by step.
//!
//! To the other drivers the steps of an executor are one more run, which began with the first step: see [`run_until`](super::run_until).
//! So a run that is suspended elsewhere is polled after each step, and goes on with what the step has left.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::run_until::FAILED;
use crate::base::wake_quietly;
use crate::run::{Core, RunWaker, context, turn_for};
use crate::sync::Arc;
use crate::task::HostWaker;

/// What a step leaves. From [`Executor::run_for`](crate::Executor::run_for).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it says when the next step is due"]
pub enum Step {
    /// Nothing to do until something wakes a task or spawns one, which wakes the waker given to
    /// [`on_ready`](crate::Executor::on_ready).
    Idle,
    /// Tasks are ready: the budget is spent. Nothing wakes the waker.
    Ready,
    /// Nothing to do until this time, when a [throttled](crate::Cap) queue may go on: take the next step then, as the waker is not woken.
    /// Before, it is as [`Idle`](Step::Idle).
    At(Instant),
}

/// See the [module docs](self).
#[derive(Default)]
pub(crate) struct Steps {
    /// None before the first step.
    run: OnceCell<Arc<RunWaker>>,
    /// None during a step, unless a task of it has called `on_ready`; and before the first call of either.
    host: Cell<Option<HostWaker>>,
    /// The number of turns after the step that has parked the inbox. 0 if none has.
    parked_at: Cell<u64>,
}

impl Steps {
    /// See [`Executor::run_for`](crate::Executor::run_for).
    #[track_caller]
    pub(crate) fn run_for(&self, core: &Rc<Core>, budget: Duration) -> Step {
        core.drivers.assert_not_driven();
        // The inbox is still parked as the last step left it: nothing has come since.
        let is_at_rest = self.parked_at.get() == core.turns() && core.shared.inbox.is_parked();
        if !(is_at_rest && core.next_release().is_none()) && self.take_step(core, budget) {
            return Step::Ready;
        }
        core.next_release().map_or(Step::Idle, Step::At)
    }

    /// Whether work is left.
    fn take_step(&self, core: &Rc<Core>, budget: Duration) -> bool {
        core.assert_own_process();
        let driving = core.drivers.drive();
        // This may wake the host of a run, which is foreign code.
        let run = self.run.get_or_init(|| core.add_run());
        run.unregister();
        let _entered = context::enter(core);
        core.shared.inbox.unpark();
        let host = self.host.take().unwrap_or_else(|| HostWaker::of(Waker::noop()));
        let is_left = turn_for(core, &host, budget);
        drop(driving);
        self.parked_at.set(if is_left { 0 } else { core.turns() });
        if !core.drivers.is_only_run() {
            core.drivers.wake_runs();
            run.take();
            run.register(&host);
        }
        if let Some(newer) = self.host.replace(Some(host)) {
            // A task has set it, and it was woken: the next step registers it.
            self.parked_at.set(0);
            self.let_go(core, self.host.replace(Some(newer)));
        }
        core.assert_not_failed(FAILED);
        is_left
    }

    /// See [`Executor::on_ready`](crate::Executor::on_ready).
    pub(crate) fn on_ready(&self, core: &Core, waker: Waker) {
        let host = HostWaker::of(&waker);
        // It is woken, and the next step registers it.
        self.parked_at.set(0);
        self.let_go(core, self.host.replace(Some(host)));
        wake_quietly(waker);
    }

    fn let_go(&self, core: &Core, host: Option<HostWaker>) {
        let Some(host) = host else { return };
        self.run.get().into_iter().for_each(|run| run.take_back(&host));
        core.shared.inbox.let_go(host);
    }

    /// Drops the waker, as the executor ends.
    pub(crate) fn end(&self, core: &Core) {
        self.let_go(core, self.host.take());
    }
}
