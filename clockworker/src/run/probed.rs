//! What the probe of an executor is told of turns, slices and polls.

use std::sync::Arc;
use std::task;

use clockworker_schedulers::{Task, TaskId};

use super::Core;
use super::queue::RunQueue;
use super::timing::{SliceEnd, Timed};
use crate::queue::{GroupIndex, NO_GROUP, Removed, TakenOut, group_of};
use crate::task::probe::{
    ExecutorClock, GroupView, Poll, PollKind, PollOutcome, Polled, Probe, QueueView, Slice, SliceEndReason,
    SliceEnded, TaskView, TurnBegan, TurnEnded, WokenBy,
};
use crate::task::{AbortHandle, Cause, Id, LiveTask, Polling, ProbeCaller, Ran, RecordKey, Runnable};

impl Core {
    /// Tells this probe from now on.
    pub(crate) fn set_probe(&self, probe: Option<Arc<dyn Probe>>) {
        self.shared.set_probe(probe);
        if self.queues.tree.borrow().running().is_some() {
            self.slice.preempt();
        }
    }

    /// The clock, for those who look at it without the executor.
    pub(crate) fn clock(&self) -> ExecutorClock {
        ExecutorClock(self.meter.clock().clone())
    }

    /// Tells of the beginning of a turn. The host had the thread for `host_ns` before.
    #[inline]
    pub(super) fn tell_turn(&self, now_ns: u64, host_ns: u64, was_visit: bool) {
        if self.shared.is_probed() {
            self.caller().note(now_ns);
            self.shared.tell(|probe| probe.turn_began(TurnBegan { now_ns, host_ns, was_visit }));
        }
    }

    /// Tells of its end, which leaves work for the next unless it is idle.
    #[inline]
    pub(super) fn tell_turn_end(&self, is_idle: bool) {
        if self.shared.is_probed() {
            let now_ns = self.meter.now();
            self.caller().note(now_ns);
            self.shared.tell(|probe| probe.turn_ended(TurnEnded { now_ns, is_idle }));
        }
    }

    /// Tells of a task that was spawned here, or has just come from another thread.
    #[inline]
    pub(super) fn tell_spawned(&self, queue: &RunQueue, task: Task) {
        if self.shared.is_probed() {
            self.tell_of(queue, task.id, group_of(task), |probe, task| probe.spawned(task));
        }
    }

    /// Tells of a task that has moved to this queue.
    pub(super) fn tell_moved(&self, to: &RunQueue, task: Task, from: RecordKey, was_ready: bool) {
        if self.shared.is_probed() {
            let event = |probe: &dyn Probe, task: &TaskView<'_>| probe.moved(task, from.into(), was_ready);
            self.tell_of(to, task.id, group_of(task), event);
        }
    }

    /// Tells of a task that another thread has woken, and that is ready now.
    #[inline]
    pub(super) fn tell_remote_wake(&self, task: RecordKey) {
        if self.shared.is_probed()
            && let Some(queue) = self.queue_at(task.queue)
        {
            let id = TaskId::new(task.slot, task.generation);
            self.tell_of(&queue, id, None, |probe, task| probe.woken(task, WokenBy::Remote));
        }
    }

    #[cold]
    fn tell_of(
        &self,
        queue: &RunQueue,
        id: TaskId,
        group: Option<GroupIndex>,
        event: impl FnOnce(&dyn Probe, &TaskView<'_>),
    ) {
        let place = Place { queue, group: group.unwrap_or(NO_GROUP) };
        // The borrow is over when the probe is called.
        let handle = queue.records.borrow().live(id).map(LiveTask::abort_handle);
        if let Some(handle) = handle {
            let now_ns = self.meter.now();
            self.shared.tell(|probe| event(probe, &TaskView::of(&handle, &place, now_ns)));
        }
    }

    /// What calls the probe.
    fn caller(&self) -> ProbeCaller<'_> {
        match self.shared.caller() {
            Some(caller) => caller,
            None => unreachable!("this is the owner thread"),
        }
    }

    /// Runs a slice of the queue inside a call of the probe.
    #[cold]
    pub(super) fn serve_probed(&self, probe: &dyn Probe, queue: &RunQueue) -> SliceEnd {
        let view = QueueView {
            index: queue.index(),
            number: queue.id.generation(),
            name: Arc::clone(&queue.name.borrow()),
            ready: queue.count_ready(),
        };
        let now_ns = self.meter.now();
        self.caller().note(now_ns);
        let serve = || {
            let end = self.serve(queue);
            (end, SliceEnded { now_ns: self.meter.now(), reason: reason_of(end) })
        };
        self.caller().run_within(|run| probe.slice(Slice { queue: view, now_ns, run }), serve)
    }

    /// Drops the future of an aborted task inside a call of the probe.
    #[cold]
    pub(super) fn cancel_probed(
        &self,
        probe: &dyn Probe,
        queue: &RunQueue,
        aborted: TakenOut,
    ) -> Option<Removed> {
        let probed = ProbedTask::new(queue, aborted.group, &aborted.live);
        let now_ns = self.meter.now();
        let task = probed.view(now_ns);
        self.caller().note(now_ns);
        // What the probe asks before the drop is asked of this task.
        let _entered = task.id().enter();
        let wrap = |run: &mut dyn FnMut()| {
            probe.poll(Poll { kind: PollKind::Drop, task: Some(task), now_ns, is_sample: false, run });
        };
        self.caller().run_within(wrap, || (queue.cancel_aborted(aborted, Cause::Aborted), ()))
    }

    /// Polls the future given to `run_until` inside a call of the probe.
    #[cold]
    pub(super) fn poll_main_probed<T>(
        &self,
        probe: &dyn Probe,
        poll: impl FnOnce() -> task::Poll<T>,
    ) -> task::Poll<T> {
        let now_ns = self.meter.now();
        self.caller().note(now_ns);
        let wrap = |run: &mut dyn FnMut()| {
            probe.poll(Poll { kind: PollKind::Main, task: None, now_ns, is_sample: false, run });
        };
        self.caller().run_panicking(wrap, poll)
    }
}

/// Who is told of the polls of a slice. The loop of a slice is compiled for each, so that it asks nothing of that at a poll.
pub(super) trait Listener {
    /// The poll under way.
    type Poll<'a>;

    /// A poll of that task is next. `is_timed` says whether it is timed by itself; it is no sample unless it `may_be_drawn`.
    fn begin<'a>(
        &self,
        place: (&'a RunQueue, GroupIndex),
        task: &LiveTask,
        is_timed: impl FnOnce() -> bool,
        may_be_drawn: bool,
    ) -> Self::Poll<'a>;

    /// Polls the task, which `take_out` takes out of its record if it has finished.
    fn poll(
        &self,
        poll: &Self::Poll<'_>,
        core: &Core,
        task: Runnable,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran;

    /// The poll is over, and what came of it is known. What came of it once that was told: a probe may wake the task.
    fn end(&self, poll: Self::Poll<'_>, core: &Core, ran: Ran, timed: Timed) -> Ran;
}

/// There is no probe.
pub(super) struct NoProbe;

impl Listener for NoProbe {
    type Poll<'a> = ();

    #[inline(always)]
    fn begin(
        &self,
        _place: (&RunQueue, GroupIndex),
        _task: &LiveTask,
        _is_timed: impl FnOnce() -> bool,
        _may_be_drawn: bool,
    ) {
    }

    #[inline(always)]
    fn poll(
        &self,
        _poll: &(),
        _core: &Core,
        task: Runnable,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran {
        task.run(take_out)
    }

    #[inline(always)]
    fn end(&self, _poll: (), _core: &Core, ran: Ran, _timed: Timed) -> Ran {
        ran
    }
}

/// A probe listens.
pub(super) struct Probed<'p> {
    probe: &'p dyn Probe,
    caller: ProbeCaller<'p>,
    only_timed: bool,
}

impl<'p> Probed<'p> {
    pub(super) fn new(probe: &'p dyn Probe, core: &'p Core) -> Self {
        let caller = core.caller();
        Self { probe, caller, only_timed: caller.tells_only_timed() }
    }
}

impl Listener for Probed<'_> {
    /// None of a poll that the probe is not told of.
    type Poll<'a> = Option<ProbedTask<'a>>;

    #[inline(always)]
    fn begin<'a>(
        &self,
        (queue, group): (&'a RunQueue, GroupIndex),
        task: &LiveTask,
        is_timed: impl FnOnce() -> bool,
        may_be_drawn: bool,
    ) -> Option<ProbedTask<'a>> {
        let (is_drawn, is_timed) = (self.caller.draws_next(), is_timed());
        let is_sample = is_drawn && may_be_drawn && !is_timed;
        let is_told = !self.only_timed || is_timed || is_sample;
        is_told.then(|| ProbedTask { is_sample, ..ProbedTask::new(queue, group, task) })
    }

    #[inline(always)]
    fn poll(
        &self,
        poll: &Option<ProbedTask<'_>>,
        core: &Core,
        task: Runnable,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran {
        match poll {
            Some(poll) => self.poll_told(poll, core, task, take_out),
            None => task.run(take_out),
        }
    }

    #[inline(always)]
    fn end(&self, poll: Option<ProbedTask<'_>>, core: &Core, ran: Ran, timed: Timed) -> Ran {
        if timed.is_read {
            self.caller.note(core.meter.now());
        }
        match (poll, &ran) {
            (Some(poll), ran) => self.tell_polled(&poll, core, ran, timed),
            (None, Ran::Yielded(task)) => task.set_word(core.meter.now()),
            (None, _) => {}
        }
        ran.again()
    }
}

impl Probed<'_> {
    #[inline]
    pub(super) fn poll_told(
        &self,
        poll: &ProbedTask<'_>,
        core: &Core,
        task: Runnable,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran {
        let (now_ns, is_sample) = (core.meter.now(), poll.is_sample);
        let view = poll.view(now_ns);
        self.caller.note(now_ns);
        // What the probe asks before the poll is asked of this task.
        Id::make_current(Some(view.id()));
        let wrap = |run: &mut dyn FnMut()| {
            self.probe.poll(Poll { kind: PollKind::Task, task: Some(view), now_ns, is_sample, run });
        };
        let within = |polling: Polling<'_>| self.caller.run_within(wrap, || (polling.call(), ()));
        task.run_within(within, take_out)
    }

    #[inline]
    fn tell_polled(&self, poll: &ProbedTask<'_>, core: &Core, ran: &Ran, timed: Timed) {
        let outcome = match ran {
            Ran::Pending(_) => PollOutcome::Pending,
            Ran::Yielded(_) => PollOutcome::Yielded,
            Ran::Finished(_) => PollOutcome::Finished,
        };
        let now_ns = core.meter.now();
        let polled = Polled {
            task: poll.view(now_ns),
            outcome,
            now_ns,
            is_read: timed.is_read,
            took_ns: timed.elapsed_ns,
            stands_for: timed.stands_for,
        };
        self.caller.call(|| self.probe.polled(&polled));
    }
}

/// A task whose poll a probe is told of.
pub(super) struct ProbedTask<'a> {
    /// Keeps it, also if it ends by that poll.
    task: AbortHandle,
    place: Place<'a>,
    /// Whether the poll is a sample.
    is_sample: bool,
}

impl<'a> ProbedTask<'a> {
    pub(super) fn new(queue: &'a RunQueue, group: GroupIndex, live: &LiveTask) -> Self {
        Self { task: live.abort_handle(), place: Place { queue, group }, is_sample: false }
    }

    fn view(&self, now_ns: u64) -> TaskView<'_> {
        TaskView::of(&self.task, &self.place, now_ns)
    }
}

/// Where a task is.
struct Place<'a> {
    queue: &'a RunQueue,
    group: GroupIndex,
}

impl crate::task::probe::Place for Place<'_> {
    fn queue_number(&self) -> u32 {
        self.queue.id.generation()
    }

    fn queue_name(&self) -> Arc<str> {
        Arc::clone(&self.queue.name.borrow())
    }

    fn group(&self) -> Option<GroupView> {
        // A scheduler may be the caller, by a spawn.
        self.queue.records.try_borrow().ok()?.group_view(self.group)
    }
}

fn reason_of(end: SliceEnd) -> SliceEndReason {
    match end {
        SliceEnd::Spent => SliceEndReason::Spent,
        SliceEnd::Preempted => SliceEndReason::Preempted,
        SliceEnd::Drained => SliceEndReason::Drained,
        SliceEnd::HostDue | SliceEnd::PollCap => SliceEndReason::HostDue,
        SliceEnd::MainWoken | SliceEnd::Interrupted | SliceEnd::PolicyFault | SliceEnd::SchedulerChanged => {
            SliceEndReason::Other
        }
    }
}
