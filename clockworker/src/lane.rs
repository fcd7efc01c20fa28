//! A queue's own state: the records of its tasks, its groups, its scheduler, its counters.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::thread;

use clockworker_schedulers::{GroupId, QueueId, Ready, RunnableFifo, Scheduler, Share, Task, TaskId};
use slab::Slab;

use crate::core::{Core, QueuePlace};
use crate::policy::{Asked, Policy, PolicyFault};
use crate::shared::QueueKey;
use crate::slice::{self, Halt, SliceEnd};
use crate::stats::Counters;
use crate::task::{Arrivals, Cause, Finish, LiveTask, Place};
use crate::tombstones::Tombstones;
use crate::watch::{Watch, unpromised};

/// Tasks a queue can hold. Twice the number fits an index, which [`group_of`] needs.
pub(crate) const MAX_TASKS: usize = 1 << 30;

/// So many tasks, with cells of 100 bytes and futures as large again, fill a second-level cache of some 100 KiB.
const MANY: usize = 1_024;

/// Memory for so many records stays when a queue has no task any more: 1 MiB.
const KEPT: usize = 65_536;

/// A queue. The handles are in [`queue`](crate::queue).
pub(crate) struct Lane {
    pub(crate) name: Box<str>,
    pub(crate) key: QueueKey,
    /// Its id between queues; the same number as `key.index`.
    pub(crate) id: QueueId,
    pub(crate) records: RefCell<Records>,
    policy: Box<dyn AnyPolicy>,
    /// Tasks in the scheduler and not aborted.
    pub(crate) ready: Cell<usize>,
    /// Tasks that have not finished.
    pub(crate) live: Cell<usize>,
    /// Whether EEVDF counts it as runnable.
    pub(crate) runnable: Cell<bool>,
    /// How many unfinished tasks it may have: [`MAX_TASKS`], or none once it or its executor takes no more.
    pub(crate) room: Cell<usize>,
    pub(crate) closed: Cell<bool>,
    /// Closed, empty and forgotten: its id may be another queue's.
    pub(crate) retired: Cell<bool>,
    pub(crate) share: Cell<Share>,
    pub(crate) request_ns: Cell<u64>,
    /// Aborted tasks whose futures are still to be dropped, first aborted first.
    aborted: RefCell<VecDeque<Aborted>>,
    /// Whether there are any. Looked at where a look at the list costs more.
    has_aborted: Cell<bool>,
    /// Aborted tasks whose records stay until their scheduler gives them out.
    tombstones: Tombstones,
    pub(crate) counters: Counters,
    pub(crate) fault: Cell<Option<PolicyFault>>,
    watch: Watch,
}

/// The records of a queue's tasks, by slot, and its groups.
#[derive(Default)]
pub(crate) struct Records {
    tasks: Slab<Record>,
    generation: u32,
    groups: Groups,
}

struct Record {
    /// None while the task is being polled, and once it was aborted in the scheduler.
    task: Option<LiveTask>,
    /// Never zero, so that the slab needs no tag of its own.
    generation: NonZeroU32,
    standing: Standing,
}

/// A group's index among the groups of its queue; [`NO_GROUP`] for none. Of 29 bits.
pub(crate) type GroupIndex = u32;

/// See [`GroupIndex`].
pub(crate) const NO_GROUP: GroupIndex = GroupIndex::MAX >> 3;

/// A task's group, whether the scheduler has the task, and the [watchdog's](crate::watch) mark.
///
/// Whether it is ready is said by two bits, one at each end. Changing one bit the compiler would make a write of one byte, and
/// the read of all four that follows soon would wait until the byte is in the cache: 5 ns a wake.
#[derive(Clone, Copy)]
struct Standing(u32);

impl Standing {
    const READY: u32 = 1 << 31 | 1;
    /// Set on a ready task only, and gone when it is given out.
    const MARKED: u32 = 1 << 30;
    const GROUP: u32 = NO_GROUP << 1;

    fn ready(group: GroupIndex) -> Self {
        Self(group << 1 | Self::READY)
    }

    #[inline]
    fn group(self) -> GroupIndex {
        (self.0 & Self::GROUP) >> 1
    }

    #[inline]
    fn is_ready(self) -> bool {
        self.0 & Self::READY != 0
    }

    /// A task that becomes ready is not marked. One that is ready no more loses its mark.
    #[inline]
    fn set_ready(&mut self, ready: bool) {
        // Both are one instruction.
        match ready {
            true => self.0 |= Self::READY,
            false => self.0 &= Self::GROUP,
        }
    }

    fn mark(&mut self) {
        self.0 |= Self::MARKED;
    }

    fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
}

#[derive(Default)]
struct Groups {
    by_key: HashMap<u64, GroupIndex>,
    slots: Slab<GroupSlot>,
}

struct GroupSlot {
    key: u64,
    /// Handles and unfinished tasks.
    holders: usize,
}

/// A task that left its record, and what its scheduler has to hear of it.
#[must_use]
pub(crate) struct Left {
    pub(crate) task: Task,
    pub(crate) group_closed: bool,
}

impl Left {
    /// Tells a scheduler.
    #[inline]
    pub(crate) fn tell(&self, scheduler: &mut impl Scheduler) {
        scheduler.finished(self.task);
        if self.group_closed {
            scheduler.group_closed(self.task.group);
        }
    }
}

/// The group id that a scheduler sees: even for a task without a group, odd for a group, so that both are dense.
#[inline]
fn group_of(slot: u32, group: GroupIndex) -> GroupId {
    GroupId::new(if group == NO_GROUP { 2 * slot } else { 2 * group + 1 })
}

impl Records {
    /// Adds the record of a task that is ready; `make` makes the task. The group counts a holder more.
    fn insert(&mut self, queue: u32, group: GroupIndex, make: impl FnOnce(Place) -> LiveTask) -> Task {
        // Zero is passed over, or one would come twice.
        let generation = NonZeroU32::new(self.generation.wrapping_add(1)).unwrap_or(NonZeroU32::MIN);
        self.generation = generation.get();
        let slot = self.tasks.vacant_key() as u32;
        let place = Place { queue, slot, generation: generation.get() };
        self.groups.retain(group);
        self.insert_task(make(place), generation, group);
        Task { id: TaskId::new(slot, place.generation), group: group_of(slot, group) }
    }

    /// Not generic, and of parts: the record is then written into the slab directly. Made elsewhere, in parts, and
    /// copied in as a whole, it cost 3 ns, waiting for its parts to be written.
    fn insert_task(&mut self, task: LiveTask, generation: NonZeroU32, group: GroupIndex) {
        self.tasks.insert(Record { task: Some(task), generation, standing: Standing::ready(group) });
    }

    fn get_mut(&mut self, slot: usize, generation: u32) -> Option<&mut Record> {
        self.tasks.get_mut(slot).filter(|record| record.generation.get() == generation)
    }

    /// Marks a woken task as ready, and says why it is. None if it is not there any more, or ready already, or being
    /// dropped: its record goes after that.
    pub(crate) fn make_ready(&mut self, place: Place, visited: Option<u8>) -> Option<(Task, Ready)> {
        let record = self
            .get_mut(place.slot as usize, place.generation)
            .filter(|record| !record.standing.is_ready())?;
        let why = record.task.as_ref()?.why_woken(visited);
        record.standing.set_ready(true);
        Some((record.as_task(place.slot), why))
    }

    /// Takes the task that a scheduler gave out, to poll it.
    #[inline]
    pub(crate) fn take_ready(&mut self, id: TaskId) -> Popped {
        match self.get_mut(id.slot(), id.generation()) {
            Some(record) if record.standing.is_ready() => {
                record.standing.set_ready(false);
                match record.task.take() {
                    Some(live) => Popped::Task { live, group: record.standing.group() },
                    None => Popped::Aborted(self.remove(id)),
                }
            }
            Some(_) => Popped::Fault(PolicyFault::Repeated),
            None => Popped::Fault(PolicyFault::Invented),
        }
    }

    /// Whether the tasks may be too many for the nearest caches.
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.tasks.len() >= MANY
    }

    /// Fetches the memory of a task that will be polled soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: TaskId) {
        if let Some(live) = self.tasks.get(id.slot()).and_then(|record| record.task.as_ref()) {
            live.prefetch();
        }
    }

    /// Puts a polled task back: the task as its scheduler knows it. (None never happens: nobody removes the record of a
    /// task that is being polled.)
    #[inline]
    pub(crate) fn put_back(&mut self, id: TaskId, live: LiveTask, ready: bool) -> Option<Task> {
        let record = self.get_mut(id.slot(), id.generation())?;
        record.task = Some(live);
        record.standing.set_ready(ready);
        Some(record.as_task(id.slot() as u32))
    }

    /// Frees the record of a finished task.
    pub(crate) fn remove(&mut self, id: TaskId) -> Left {
        let record = self.tasks.remove(id.slot());
        let task = record.as_task(id.slot() as u32);
        let group = record.standing.group();
        let group_closed = group == NO_GROUP || self.groups.release(group);
        Left { task, group_closed }
    }

    /// Takes an aborted task out of its record.
    fn take_aborted(&mut self, place: Place) -> Option<Aborted> {
        let record = self.get_mut(place.slot as usize, place.generation)?;
        let live = record.task.take()?;
        Some(Aborted {
            live,
            task: record.as_task(place.slot),
            group: record.standing.group(),
            ready: record.standing.is_ready(),
        })
    }

    /// Empties the records.
    fn take_all(&mut self) -> Vec<LiveTask> {
        self.groups = Groups::default();
        self.tasks.drain().filter_map(|record| record.task).collect()
    }

    /// Makes tasks ready that a scheduler kept from it: it called back into the executor, which was handing it a woken task
    /// then and could not.
    #[cold]
    fn rescue(&mut self) {
        for (_, record) in self.tasks.iter_mut() {
            if record.task.as_ref().is_some_and(LiveTask::is_ready) {
                record.standing.set_ready(true);
            }
        }
    }

    /// The ready tasks in order of slot, for a scheduler that takes over.
    pub(crate) fn ready(&self) -> impl Iterator<Item = Task> + '_ {
        self.tasks
            .iter()
            .filter(|(_, record)| record.standing.is_ready())
            .map(|(slot, record)| record.as_task(slot as u32))
    }

    /// How many of them are not aborted.
    fn ready_to_run(&self) -> usize {
        self.tasks.iter().filter(|(_, record)| record.standing.is_ready() && record.task.is_some()).count()
    }

    /// Gives the memory of a burst back, once no record is left.
    fn shrink(&mut self) {
        if self.tasks.is_empty() && self.tasks.capacity() > KEPT {
            self.tasks = Slab::new();
        }
    }

    /// At least the most tasks that there were at a time since there was none; less than twice as many, or 4.
    pub(crate) fn slots(&self) -> usize {
        self.tasks.capacity()
    }

    /// Marks the ready tasks in these slots. Aborted ones are none.
    pub(crate) fn mark_ready(&mut self, slots: Range<usize>) {
        for slot in slots.start..slots.end.min(self.slots()) {
            match self.tasks.get_mut(slot) {
                Some(record) if record.standing.is_ready() && record.task.is_some() => record.standing.mark(),
                _ => {}
            }
        }
    }

    /// Whether a task in these slots is still marked: not given out since, and not aborted.
    pub(crate) fn any_marked(&self, slots: Range<usize>) -> bool {
        let mut records = (slots.start..slots.end.min(self.slots())).filter_map(|slot| self.tasks.get(slot));
        records.any(|record| record.standing.is_marked() && record.task.is_some())
    }

    /// A group's index, by the user's key; counts a holder.
    pub(crate) fn open_group(&mut self, key: u64) -> GroupIndex {
        self.groups.open(key)
    }

    /// One more handle to a group.
    pub(crate) fn retain_group(&mut self, index: GroupIndex) {
        self.groups.retain(index);
    }

    /// One handle to a group less; the group as its scheduler knows it, if that was the last holder.
    pub(crate) fn release_group(&mut self, index: GroupIndex) -> Option<GroupId> {
        self.groups.release(index).then(|| group_of(0, index))
    }
}

impl Record {
    #[inline]
    fn as_task(&self, slot: u32) -> Task {
        Task { id: TaskId::new(slot, self.generation.get()), group: group_of(slot, self.standing.group()) }
    }
}

impl Groups {
    fn open(&mut self, key: u64) -> GroupIndex {
        if let Some(&index) = self.by_key.get(&key) {
            self.retain(index);
            return index;
        }
        if self.slots.len() >= NO_GROUP as usize {
            return NO_GROUP;
        }
        let index = self.slots.insert(GroupSlot { key, holders: 1 }) as GroupIndex;
        self.by_key.insert(key, index);
        index
    }

    fn retain(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.holders += 1;
        }
    }

    /// True if that was the last holder. (After an executor was torn down there are handles to groups that are gone.)
    fn release(&mut self, index: GroupIndex) -> bool {
        let Some(slot) = self.slots.get_mut(index as usize) else { return false };
        slot.holders -= 1;
        if slot.holders > 0 {
            return false;
        }
        let slot = self.slots.remove(index as usize);
        self.by_key.remove(&slot.key);
        true
    }
}

/// A task whose future is to be dropped.
pub(crate) struct Aborted {
    live: LiveTask,
    pub(crate) group: GroupIndex,
    pub(crate) task: Task,
    /// The scheduler has it: its record stays until it is popped.
    ready: bool,
}

/// What a scheduler's choice turns out to be.
pub(crate) enum Popped {
    Task {
        live: LiveTask,
        group: GroupIndex,
    },
    /// It was aborted while it was ready, and its record has just gone.
    Aborted(Left),
    Fault(PolicyFault),
}

/// A scheduler of unknown type. One dynamic call per slice or arrival, none per poll.
trait AnyPolicy {
    fn push(&self, task: Task, why: Ready) -> Result<(), PolicyFault>;
    /// See [`Lane::admit_woken`].
    fn admit_woken(
        &self,
        lane: &Lane,
        arrivals: &Arrivals,
        visited: Option<u8>,
        most: usize,
    ) -> Result<usize, PolicyFault>;
    fn group_closed(&self, group: GroupId) -> Result<(), PolicyFault>;
    /// Whether this is inside one of the scheduler's methods.
    fn is_busy(&self) -> bool;
    fn run_slice(&self, lane: &Lane, core: &Core) -> Result<SliceEnd, PolicyFault>;
    fn patience(&self, tasks: usize) -> Result<Option<u64>, PolicyFault>;
    /// Takes everything out of the scheduler, frees the records of aborted tasks, and puts the others back, in the order in
    /// which they came.
    fn sweep(&self, lane: &Lane) -> Result<(), PolicyFault>;
    /// Takes the scheduler out of service: from now on the queue is FIFO, beginning with `ready`.
    fn replace(&self, ready: &mut dyn Iterator<Item = Task>) -> Option<Box<dyn Any>>;
}

impl<S: Scheduler + 'static> AnyPolicy for Policy<S> {
    fn push(&self, task: Task, why: Ready) -> Result<(), PolicyFault> {
        guarded(|| Policy::push(self, task, why))
    }

    fn admit_woken(
        &self,
        lane: &Lane,
        arrivals: &Arrivals,
        visited: Option<u8>,
        most: usize,
    ) -> Result<usize, PolicyFault> {
        guarded(|| Policy::admit_woken(self, lane, arrivals, visited, most))
    }

    fn group_closed(&self, group: GroupId) -> Result<(), PolicyFault> {
        guarded(|| Policy::group_closed(self, group))
    }

    fn is_busy(&self) -> bool {
        self.chosen.try_borrow_mut().is_err()
    }

    fn run_slice(&self, lane: &Lane, core: &Core) -> Result<SliceEnd, PolicyFault> {
        // Not in the condition, whose borrow would last for the whole slice.
        let in_service = self.chosen.borrow().is_some();
        guarded_slice(|asked| match in_service {
            true => slice::run(&self.chosen, lane, core, asked),
            false => slice::run(&self.successor, lane, core, asked),
        })
    }

    fn sweep(&self, lane: &Lane) -> Result<(), PolicyFault> {
        guarded(|| Policy::sweep(self, lane)).and_then(|swept| swept)
    }

    fn patience(&self, tasks: usize) -> Result<Option<u64>, PolicyFault> {
        guarded(|| Policy::patience(self, tasks))
    }

    fn replace(&self, ready: &mut dyn Iterator<Item = Task>) -> Option<Box<dyn Any>> {
        Policy::replace(self, ready).map(|old| Box::new(old) as Box<dyn Any>)
    }
}

/// Calls a user's scheduler. All its state is behind a `RefCell`, whose borrow a panic releases.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, PolicyFault> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        crate::panics::drop_quietly(payload);
        PolicyFault::Panicked
    })
}

/// Calls what runs a slice, which asks the scheduler by way of [`Asked`]. A panic that does not come from there is the
/// executor's own fault, and goes on.
fn guarded_slice(run: impl FnOnce(&Asked) -> Result<SliceEnd, Halt>) -> Result<SliceEnd, PolicyFault> {
    let asked = Asked::default();
    match catch_unwind(AssertUnwindSafe(|| run(&asked))) {
        Ok(Ok(end)) => Ok(end),
        Ok(Err(Halt::Tombstones)) => Ok(SliceEnd::Tombstones),
        Ok(Err(Halt::Fault(fault))) => Err(fault),
        Err(payload) if asked.has_panicked() => {
            crate::panics::drop_quietly(payload);
            Err(PolicyFault::Panicked)
        }
        Err(payload) => resume_unwind(payload),
    }
}

impl Lane {
    pub(crate) fn new<S: Scheduler + 'static>(name: Box<str>, place: QueuePlace, scheduler: S) -> Rc<Self> {
        let QueuePlace { id, key, share, request_ns } = place;
        Rc::new(Self {
            name,
            key,
            id,
            records: RefCell::default(),
            policy: Box::new(Policy::new(scheduler)),
            ready: Cell::new(0),
            live: Cell::new(0),
            runnable: Cell::new(false),
            room: Cell::new(MAX_TASKS),
            closed: Cell::new(false),
            retired: Cell::new(false),
            share: Cell::new(share),
            request_ns: Cell::new(request_ns),
            aborted: RefCell::default(),
            has_aborted: Cell::new(false),
            tombstones: Tombstones::new(),
            counters: Counters::default(),
            fault: Cell::new(None),
            watch: Watch::new(),
        })
    }

    /// Adds a task, which `make` makes, and hands it to the scheduler.
    pub(crate) fn spawn(&self, group: GroupIndex, make: impl FnOnce(Place) -> LiveTask) {
        let task = self.records.borrow_mut().insert(self.key.index, group, make);
        self.live.set(self.live.get() + 1);
        self.counters.spawned.add(1);
        self.push(task, Ready::Spawned);
    }

    /// A task of this queue was woken, by the host's visit before the turn `visited` or in some other way: what its scheduler
    /// is to be told. None if it was ready already, or is gone.
    pub(crate) fn make_ready(&self, place: Place, visited: Option<u8>) -> Option<(Task, Ready)> {
        self.records.borrow_mut().make_ready(place, visited)
    }

    /// Hands the scheduler those of its tasks that were woken on this thread, up to `most`; how many. All that have arrived must
    /// be of this queue.
    pub(crate) fn admit_woken(&self, arrivals: &Arrivals, visited: Option<u8>, most: usize) -> usize {
        let admitted = self.policy.admit_woken(self, arrivals, visited, most);
        let count = admitted.unwrap_or(most);
        self.check(admitted.map(drop));
        count
    }

    /// Hands a task to the scheduler.
    pub(crate) fn push(&self, task: Task, why: Ready) {
        self.ready.set(self.ready.get() + 1);
        self.check(self.policy.push(task, why));
    }

    /// Pushes a task that yielded and is counted as ready already.
    pub(crate) fn push_again(&self, task: Task) {
        self.check(self.policy.push(task, Ready::Yielded));
    }

    /// Takes an aborted task out of its record, for its future to be dropped in the queue's next slice, before any other task
    /// is polled. False if it is there already, or gone.
    pub(crate) fn take_aborted(&self, place: Place) -> bool {
        let Some(aborted) = self.records.borrow_mut().take_aborted(place) else { return false };
        if aborted.ready {
            self.ready.set(self.ready.get() - 1);
        }
        self.aborted.borrow_mut().push_back(aborted);
        self.has_aborted.set(true);
        true
    }

    /// Takes an aborted task that its scheduler has just given out, for its future to be dropped.
    #[cold]
    pub(crate) fn abort_popped(&self, live: LiveTask, id: TaskId, group: GroupIndex) {
        let task = Task { id, group: group_of(id.slot() as u32, group) };
        self.aborted.borrow_mut().push_back(Aborted { live, group, task, ready: false });
        self.has_aborted.set(true);
    }

    /// Whether the futures of aborted tasks are to be dropped.
    #[inline]
    pub(crate) fn has_aborted(&self) -> bool {
        self.has_aborted.get()
    }

    /// Whether there is anything to be done in a slice.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.ready.get() > 0 || self.has_aborted.get()
    }

    /// The next aborted task.
    pub(crate) fn next_aborted(&self) -> Option<Aborted> {
        let mut aborted = self.aborted.borrow_mut();
        let next = aborted.pop_front();
        self.has_aborted.set(!aborted.is_empty());
        next
    }

    /// Drops the future of an aborted task, with no borrow held, and closes its books. What its scheduler has to hear, if it
    /// does not have the task.
    pub(crate) fn cancel_aborted(&self, aborted: Aborted, cause: Cause) -> Option<Left> {
        let Aborted { live, task, ready, group: _ } = aborted;
        self.count(live.cancel(cause));
        if ready {
            self.tombstones.add(self.counters.polls.get(), self.ready.get());
            return None;
        }
        // The record goes after the future, whose drop may spawn into its group.
        Some(self.records.borrow_mut().remove(task.id))
    }

    /// A tombstone was given out, and is gone. Whether it is time for a look at the time.
    #[cold]
    pub(crate) fn tombstone_popped(&self) -> bool {
        self.tombstones.remove()
    }

    /// Has the scheduler give out everything, and gives it back what is not a tombstone, if it has kept tombstones for so long
    /// that it may never give them out.
    pub(crate) fn sweep_tombstones(&self) {
        if self.tombstones.are_due(self.counters.polls.get()) {
            self.check(self.sweep());
        }
    }

    fn sweep(&self) -> Result<(), PolicyFault> {
        self.tombstones.sweep();
        self.policy.sweep(self)
    }

    /// The queue has no task any more: gives the memory of a burst back.
    pub(crate) fn shrink(&self) {
        self.records.borrow_mut().shrink();
    }

    /// One task less, for the accounts.
    pub(crate) fn count(&self, finish: Finish) {
        self.live.set(self.live.get() - 1);
        self.counters.finished(finish);
    }

    /// Lets the scheduler run tasks until the slice ends.
    pub(crate) fn run_slice(&self, core: &Core) -> SliceEnd {
        match self.policy.run_slice(self, core) {
            Ok(end) => end,
            Err(fault) => {
                self.check(Err(fault));
                SliceEnd::PolicyFault
            }
        }
    }

    /// Whether it is time for [`look_for_starved`](Lane::look_for_starved). Where nothing is ready nothing starves.
    pub(crate) fn is_look_due(&self) -> bool {
        self.ready.get() > 0 && self.watch.is_due(self.counters.polls.get())
    }

    /// Takes the scheduler out of service if it has lost a task, or starves one that it promised not to. Between slices only.
    #[cold]
    pub(crate) fn look_for_starved(&self) {
        let tasks = self.records.borrow().slots();
        let seen = self.policy.patience(tasks).and_then(|patience| {
            let (polls, most) = (self.counters.polls.get(), patience.unwrap_or_else(|| unpromised(tasks)));
            let starves = self.watch.sees_starved(polls, most, &mut self.records.borrow_mut());
            match patience {
                _ if !starves => Ok(()),
                Some(_) => Err(PolicyFault::Starved),
                // It may starve tasks, but not lose them: what it has lost does not come out.
                None => self.sweep(),
            }
        });
        self.check(seen);
    }

    /// The last handle to a group may be gone.
    pub(crate) fn release_group(&self, index: GroupIndex) {
        // A scheduler that drops a handle of its own queue while it panics: a second panic would be the end of the process,
        // and it goes out of service in any case. The group then stays known until the executor is dropped, at worst.
        let unwinding = thread::panicking();
        if unwinding && self.records.try_borrow_mut().is_err() {
            return;
        }
        let closed = self.records.borrow_mut().release_group(index);
        if let Some(group) = closed
            && !(unwinding && self.policy.is_busy())
        {
            self.check(self.policy.group_closed(group));
        }
    }

    /// Takes a faulty scheduler out of service and reports it. Its tasks go on in FIFO order.
    #[inline]
    fn check(&self, result: Result<(), PolicyFault>) {
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
        let old = {
            let mut records = self.records.borrow_mut();
            records.rescue();
            // Counted anew, so that whatever a scheduler did, its successor begins with true books.
            self.ready.set(records.ready_to_run());
            self.policy.replace(&mut records.ready())
        };
        // The scheduler's own drop is user code.
        crate::panics::drop_quietly(old);
    }

    /// Drops the scheduler of a queue that has no tasks any more and gets none. It may hold handles to its own queue and to
    /// others, which would keep the executor's state for ever. (One that brings its own end about, in one of its methods, stays.)
    pub(crate) fn drop_scheduler(&self) {
        if !self.policy.is_busy() {
            crate::panics::drop_quietly(self.policy.replace(&mut std::iter::empty()));
        }
    }

    /// Cancels every task. Those that are being polled are not in their records, so this is for between polls.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        let tasks = self.records.borrow_mut().take_all();
        self.ready.set(0);
        // First those that were aborted, as their errors say.
        while let Some(aborted) = self.next_aborted() {
            self.count(aborted.live.cancel(Cause::Aborted));
        }
        for task in tasks {
            let finish = task.cancel(cause);
            self.count(finish);
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // The scheduler's own drop is user code, and this may be inside the run loop.
        let nothing = Box::new(Policy::new(RunnableFifo::new()));
        crate::panics::drop_quietly(std::mem::replace(&mut self.policy, nothing));
    }
}

#[cfg(test)]
mod limits;

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_scheduler_is_a_fault_and_one_of_the_executor_goes_on() {
        let of_scheduler = guarded_slice(|asked| asked.ask(|| panic!("the scheduler's")));
        assert_eq!(of_scheduler, Err(PolicyFault::Panicked));
        let of_executor = catch_unwind(|| {
            guarded_slice(|asked| {
                asked.ask(|| {});
                panic!("the executor's")
            })
        });
        assert_eq!(of_executor.unwrap_err().downcast_ref::<&str>(), Some(&"the executor's"));
    }
}
