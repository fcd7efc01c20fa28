//! [`RunQueue`]: a queue as the run loop has it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use clockworker_schedulers::{
    Attributes, Cap, Gone, GroupId, Left, QueueId, Ready, RunnableFifo, Scheduler, Share, Subject, Task,
    TaskId,
};

use super::Core;
use super::aborts::Aborts;
use super::any_policy::AnyPolicy;
use super::queues::QueueSetup;
use super::service::Service;
use super::stats::TreeCounts;
use super::timing::{SliceEnd, Stride};
use super::waiting::Waiting;
use crate::base::drop_quietly;
use crate::queue::{
    Counters, GroupIndex, Limits, MAX_TASKS, Policy, PolicyFault, Records, Waiters, Watchdog,
};
use crate::task::{ArrivalList, ArrivalListRef, Finish, LiveTask, RecordKey};

/// A queue: the records of its tasks, its scheduler, its counters. [`Queue`](crate::Queue) is the handle.
pub(crate) struct RunQueue {
    pub(super) name: RefCell<Arc<str>>,
    /// Its id in the tree of queues, and its place in the table of queues.
    pub(crate) id: QueueId,
    arrivals: ArrivalListRef,
    pub(crate) records: RefCell<Records>,
    pub(super) service: Service,
    /// Tasks that the scheduler has and that are not aborted.
    pub(crate) ready: Cell<usize>,
    /// Tasks that have not finished.
    pub(crate) live: Cell<usize>,
    /// About how many ready tasks have merely yielded: the others are taken to be polled before them.
    yielders: Cell<usize>,
    /// Whether the tree of queues knows that it has work.
    pub(crate) runnable: Cell<bool>,
    /// With fewer unfinished tasks than this it takes one more without further questions. [`MAX_TASKS`] where there are no
    /// limits; 0 where more is to be asked, and once the queue is closed or its executor refuses tasks. See `run/room.rs`.
    pub(crate) takes_below: Cell<usize>,
    /// Whether to look for room at the end of a slice: waiters wait.
    pub(crate) is_awaited: Cell<bool>,
    pub(crate) closed: Cell<bool>,
    /// Closed to all but the children of tasks in queues that drain.
    pub(crate) drains: Cell<bool>,
    /// One of those that drain with it and had tasks, when it was looked at last.
    pub(super) drains_with: Cell<Option<QueueId>>,
    /// Closed, empty and removed from the table.
    pub(crate) removed: Cell<bool>,
    pub(crate) share: Cell<Share>,
    pub(crate) request_ns: Cell<u64>,
    pub(crate) cap: Cell<Option<Cap>>,
    pub(crate) is_idle: bool,
    /// The queue below which it was created.
    pub(crate) parent: Option<Rc<RunQueue>>,
    /// What the tree of queues had counted for it when it was removed.
    pub(super) ended: Cell<TreeCounts>,
    pub(super) aborts: Aborts,
    pub(super) stride: Stride,
    pub(crate) counters: Counters,
    pub(crate) fault: Cell<Option<PolicyFault>>,
    watch: Watchdog,
    pub(crate) limits: Cell<Limits>,
    /// Those who wait until it takes one more task.
    pub(crate) waiters: RefCell<Waiters>,
    /// Those who wait until it is gone.
    pub(super) awaits_end: Waiting,
}

impl RunQueue {
    pub(crate) fn new<S: Scheduler + 'static>(
        (name, id): (Arc<str>, QueueId),
        arrivals: ArrivalListRef,
        standing: QueueSetup,
        scheduler: S,
    ) -> Rc<Self> {
        let QueueSetup { share, request_ns, parent, is_idle, cap } = standing;
        Rc::new(Self {
            name: RefCell::new(name),
            id,
            arrivals,
            records: RefCell::default(),
            service: Service::new(scheduler),
            ready: Cell::new(0),
            live: Cell::new(0),
            runnable: Cell::new(false),
            takes_below: Cell::new(MAX_TASKS),
            is_awaited: Cell::new(false),
            closed: Cell::new(false),
            drains: Cell::new(false),
            drains_with: Cell::new(None),
            removed: Cell::new(false),
            share: Cell::new(share),
            yielders: Cell::new(0),
            request_ns: Cell::new(request_ns),
            cap: Cell::new(cap),
            is_idle,
            parent,
            ended: Cell::default(),
            aborts: Aborts::default(),
            stride: Stride::default(),
            counters: Counters::default(),
            fault: Cell::new(None),
            watch: Watchdog::new(),
            limits: Cell::default(),
            waiters: RefCell::default(),
            awaits_end: Waiting::default(),
        })
    }

    /// Its place in the table of queues.
    #[inline]
    pub(crate) fn index(&self) -> u32 {
        self.id.index() as u32
    }

    pub(crate) fn name(&self) -> String {
        self.name.borrow().to_string()
    }

    /// Adds a task, which `make` makes, and puts it among the arrivals.
    #[inline(always)] // a call is 22 instructions of a spawn by another thread
    pub(crate) fn insert(&self, group: GroupIndex, make: impl FnOnce(RecordKey) -> LiveTask) -> Task {
        let make = |key| {
            let live = make(key);
            live.arrive(Ready::Spawned);
            live
        };
        let task = self.records.borrow_mut().insert(self.index(), group, make);
        self.live.set(self.live.get() + 1);
        self.counters.spawned.add(1);
        task
    }

    /// Notes when a task was spawned here, or came in from another thread.
    #[inline]
    pub(super) fn note_spawned(&self, task: Task, now: u64) {
        if Records::KEEPS_LABELS {
            self.records.borrow_mut().note_spawned(task.id, now);
        }
    }

    /// Notes that so many tasks are ready that have merely yielded.
    #[inline]
    pub(crate) fn yielded(&self, tasks: usize) {
        self.yielders.set(self.yielders.get() + tasks);
    }

    /// Counts a slice that is over.
    #[inline]
    pub(super) fn slice_is_over(&self) {
        self.counters.slices.add(1);
        if self.yielders.get() > self.ready.get() {
            self.yielders.set(self.ready.get());
        }
    }

    /// About how many ready tasks have not merely yielded.
    pub(super) fn ready_but_for_yielders(&self) -> usize {
        self.ready.get().saturating_sub(self.yielders.get()) + self.arrivals().count()
    }

    /// The tasks that its scheduler has not got yet.
    #[inline]
    pub(crate) fn arrivals(&self) -> &ArrivalList {
        &self.arrivals
    }

    /// Whether tasks came that its scheduler has not got yet, and that are not aborted.
    #[inline]
    pub(super) fn has_arrivals(&self) -> bool {
        self.arrivals().count() > 0
    }

    /// How many tasks are ready now, with those that its scheduler has not got yet.
    pub(super) fn count_ready(&self) -> usize {
        self.ready.get() + self.arrivals().count()
    }

    /// What was said of the task in that slot, if it has any attributes.
    #[inline]
    pub(crate) fn attributes(&self, slot: u32) -> Option<Attributes> {
        self.records.borrow().attributes(slot)
    }

    /// Notes what was said of a new task, if that is anything. Its scheduler is told when it gets the task.
    #[inline]
    pub(crate) fn set_attributes(&self, task: Task, attributes: &Attributes) {
        if *attributes != Attributes::new() {
            let mut records = self.records.borrow_mut();
            records.live(task.id).into_iter().for_each(|live| live.set_tag(attributes.tag));
            records.set_attributes(task.id, *attributes);
        }
    }

    /// What there is to do in a slice.
    #[inline]
    pub(super) fn left(&self) -> Left {
        match () {
            () if self.aborts.any() => Left::Drops,
            () if self.ready.get() > 0 || self.has_arrivals() => Left::Tasks,
            () => Left::Nothing,
        }
    }

    /// Gives the memory of a burst back, once the queue has no tasks.
    pub(crate) fn shrink(&self) {
        self.records.borrow_mut().shrink();
    }

    /// Takes a task out of its record that has finished in the poll under way.
    #[inline(always)]
    pub(crate) fn take_finished(&self, id: TaskId) -> Option<LiveTask> {
        self.records.borrow_mut().take_finished(id)
    }

    /// Counts a task as finished.
    pub(crate) fn count_finished(&self, finish: Finish) {
        self.live.set(self.live.get() - 1);
        self.counters.finished(finish);
    }

    /// Lets the scheduler run tasks until the slice ends.
    pub(crate) fn run_slice(&self, core: &Core) -> SliceEnd {
        match self.service.call(|policy| policy.run_slice(self, core)) {
            Ok(end) => end,
            Err(fault) => {
                self.check(Err(fault));
                SliceEnd::PolicyFault
            }
        }
    }

    /// Whether [`look_for_lost`](RunQueue::look_for_lost) is due. Where nothing is ready nothing is lost.
    pub(crate) fn is_look_due(&self) -> bool {
        self.ready.get() > 0 && self.watch.is_due(self.counters.polls.get())
    }

    /// Takes the scheduler out of service if it has lost a task. Between slices only.
    #[cold]
    pub(crate) fn look_for_lost(&self) {
        if self.watch.sees_starved(self.counters.polls.get(), &mut self.records.borrow_mut()) {
            // It may starve tasks, but not lose them: what it has lost does not come out.
            self.check(self.sweep());
        }
    }

    /// Opens the group of that key, unless it is open, and tells the scheduler; with one more holder.
    pub(crate) fn open_group(&self, key: u64, attributes: Attributes) -> GroupIndex {
        let opened = self.records.borrow_mut().open_group(key, attributes);
        if opened.is_new {
            self.tell_opened(opened.index, key, &attributes);
        }
        opened.index
    }

    /// Tells the scheduler of a group that was opened.
    pub(crate) fn tell_opened(&self, index: GroupIndex, key: u64, attributes: &Attributes) {
        let group = Subject::NewGroup { group: GroupId::new(index), key };
        self.check(self.service.call(|policy| policy.said(group, attributes)));
    }

    /// Gives a group other attributes, and tells the scheduler if they are others.
    pub(crate) fn change_group(&self, index: GroupIndex, attributes: Attributes) {
        let changed = self.records.borrow_mut().change_group(index, attributes);
        if let Some(id) = changed {
            self.check(self.service.call(|policy| policy.said(Subject::Group(id), &attributes)));
        }
    }

    /// Whether the scheduler is in service and is told of the service of tasks.
    pub(super) fn times_tasks(&self) -> bool {
        self.service.call(|policy| policy.times_tasks())
    }

    /// Counts one handle to a group less, and tells the scheduler if the group is closed by that.
    pub(crate) fn release_group(&self, index: GroupIndex) {
        // A scheduler may drop a handle of its own queue while it panics. A second panic would end the process, and the
        // scheduler goes out of service in any case. The group then stays known until the executor is dropped, at worst.
        let unwinding = thread::panicking();
        if unwinding && self.records.try_borrow_mut().is_err() {
            return;
        }
        let closed = self.records.borrow_mut().release_group(index);
        if closed.is_some() && self.live.get() == 0 {
            self.records.borrow_mut().shrink();
        }
        if let Some(group) = closed
            && !(unwinding && self.service.call(|policy| policy.is_busy()))
        {
            self.check(self.service.call(|policy| policy.gone(Gone::Group(group))));
        }
    }

    /// Takes the scheduler out of service after a fault. Its tasks go on in FIFO order.
    #[inline]
    pub(super) fn check(&self, result: Result<(), PolicyFault>) {
        if let Err(fault) = result {
            self.take_out_of_service(fault);
        }
    }

    #[cold]
    fn take_out_of_service(&self, fault: PolicyFault) {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
        self.watch.end();
        let ready = self.ready_by_slot();
        self.replace_scheduler(Rc::new(Policy::new(RunnableFifo::new())), ready);
    }

    /// The ready tasks, in the order of their slots. Counts them anew, so that who takes over begins with a true count,
    /// whatever the scheduler did.
    #[cold]
    fn ready_by_slot(&self) -> Vec<Task> {
        let records = self.records.borrow();
        self.ready.set(records.ready_to_run());
        records.ready().collect()
    }

    /// Notes the scheduler that the queue is to have from the next [`change_scheduler`](RunQueue::change_scheduler) on.
    pub(super) fn set_next_scheduler<S: Scheduler + 'static>(&self, scheduler: S) {
        self.service.set_next(scheduler);
    }

    /// Whether it is to have another scheduler.
    #[inline]
    pub(super) fn has_next_scheduler(&self) -> bool {
        self.service.has_next()
    }

    /// Puts the scheduler into service that the queue is to have, if there is one: it gets the ready tasks in the order in
    /// which the last one gives them out, or in that of their slots, if it does not give out exactly those. Not in a slice of
    /// the queue, where a task may be in nobody's hands; and waits if a method of the last one is on the stack.
    #[cold]
    pub(super) fn change_scheduler(&self) {
        if self.service.call(|policy| policy.is_busy()) {
            return;
        }
        let Some(next) = self.service.take_next() else { return };
        let ready = match self.service.call(|policy| policy.give_out(self)) {
            Ok(ready) => ready,
            Err(_) => self.ready_by_slot(),
        };
        self.fault.set(None);
        self.watch.restart();
        self.replace_scheduler(next, ready);
    }

    /// Puts a scheduler in the place of the last one, and gives it these ready tasks.
    fn replace_scheduler(&self, next: Rc<dyn AnyPolicy>, ready: Vec<Task>) {
        let handover = self.records.borrow().handover(ready);
        let old = self.service.put(next);
        self.check(self.service.call(|policy| policy.take_over(&handover)));
        // Last, as its drop is user code.
        drop_quietly(old);
    }

    /// The type of the scheduler in service.
    pub(crate) fn scheduler_name(&self) -> &'static str {
        self.service.call(|policy| policy.type_name())
    }

    /// Drops the scheduler of a queue that has no tasks any more and gets none. It may hold handles to its own queue and to
    /// others, which would keep the executor's state for ever. (Not if one of its own methods brought the end about and is on
    /// the stack.)
    pub(crate) fn drop_scheduler(&self) {
        drop_quietly(self.service.take_next());
        if !self.service.call(|policy| policy.is_busy()) {
            drop_quietly(self.service.call(|policy| policy.take()));
        }
    }
}
