//! What stands in for [`observer`](super::observer) without the feature `observe`: nothing.

use clockworker_schedulers::{Task, TaskId};

use super::Core;
use super::queue::RunQueue;
use super::timing::{SliceEnd, Timed, Timing};
use crate::queue::GroupIndex;
use crate::task::{LiveTask, Ran, Runnable};

#[derive(Default)]
pub(crate) struct Observer {}

impl Observer {
    #[inline(always)]
    pub(super) fn times_every_poll(&self) -> bool {
        false
    }
}

impl Core {
    #[inline(always)]
    pub(super) fn observe_turn(&self, _now: u64, _host_ns: u64, _visited: bool) {}

    #[inline(always)]
    pub(super) fn observe_turn_end(&self, _idle: bool) {}

    #[inline(always)]
    pub(super) fn observe_slice_end(&self, _queue: &RunQueue, _end: SliceEnd) {}

    #[inline(always)]
    pub(super) fn observe_spawn(&self, _queue: &RunQueue, _task: Task) {}

    #[inline(always)]
    pub(super) fn observe_yield(&self, _live: &LiveTask) {}

    #[inline(always)]
    pub(super) fn observe_remote_wake(&self, _queue: &RunQueue) {}

    #[inline(always)]
    pub(super) fn observe_removal(&self, _queue: &RunQueue) {}
}

pub(super) struct SliceObserver;

impl SliceObserver {
    #[inline(always)]
    pub(super) fn begin(_core: &Core, _queue: &RunQueue) -> Self {
        Self
    }

    #[inline(always)]
    pub(super) fn after_drops(&self) {}

    #[inline(always)]
    pub(super) fn before_poll(&mut self, _live: &LiveTask, _timing: &Timing<'_>, _needed: bool) {}

    #[inline(always)]
    pub(super) fn run(
        &self,
        runnable: Runnable,
        _group: GroupIndex,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran {
        runnable.run(take_out)
    }

    #[inline(always)]
    pub(super) fn after_poll(&mut self, _ran: &Ran, _id: TaskId, _timed: Timed) {}
}
