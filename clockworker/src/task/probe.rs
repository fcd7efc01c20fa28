//! [`Probe`]: what an executor tells of its turns, slices, tasks and polls as they happen, and of what.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::header::{Header, RecordKey};
use super::{AbortHandle, Finish, Id};
use crate::base::{Clock, ManualClock};

/// Listens to an executor: see [`Executor::set_probe`](crate::Executor::set_probe). Each method does nothing unless it is written, but
/// that [`slice`](Probe::slice) and [`poll`](Probe::poll) run what they are given.
///
/// Times are nanoseconds since the executor was made, on its clock, and as of its last reading of that.
///
/// # Threads
///
/// [`woken_elsewhere`](Probe::woken_elsewhere) and [`waker`](Probe::waker) are called on any thread, all others on the executor's.
///
/// # What a probe may do
///
/// Everything: the executor holds no borrow while it calls one. A probe may ask for stats, spawn, wake, abort, close queues, and set
/// another probe. It is told of what it does itself, inside the call under way, so one that spawns in [`spawned`](Probe::spawned), or
/// uses wakers of tasks in [`waker`](Probe::waker), must know its own. A task that it spawns inherits nothing.
///
/// A panic of a probe is caught and [counted](crate::ExecutorStats::probe_panics), and everything goes on. Its time is billed as that of
/// the poll or spawn that it is told of.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use clockworker::probe::{Probe, TaskEnd, TaskView};
///
/// #[derive(Default)]
/// struct Panics(AtomicU32);
///
/// impl Probe for Panics {
///     fn ended(&self, _task: &TaskView<'_>, how: TaskEnd) {
///         if how == TaskEnd::Panicked {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// # #[cfg(feature = "observe")] {
/// let ex = clockworker::Executor::new();
/// let panics = Arc::new(Panics::default());
/// ex.set_probe(Some(panics.clone()));
/// assert!(ex.block_on(ex.spawn(async { panic!("as planned") })).is_err());
/// assert_eq!(panics.0.load(Ordering::Relaxed), 1);
/// # }
/// ```
pub trait Probe: Any + Send + Sync {
    /// What else it wants. Asked once, when it is set.
    fn interest(&self) -> Interest {
        Interest::default()
    }

    /// The executor has the thread of its host.
    fn turn_began(&self, turn: TurnBegan) {
        let _ = turn;
    }

    /// The host has its thread back.
    fn turn_ended(&self, turn: TurnEnded) {
        let _ = turn;
    }

    /// A queue was picked. What [`Slice::run`] does runs inside this call, so that a function around it is a stack frame of the slice.
    /// If the slice is not run, the executor runs it afterwards.
    fn slice(&self, slice: Slice<'_>) {
        slice.run();
    }

    /// A task was spawned, or has come in from another thread. It is ready, and was not polled yet. A task that is refused is not told.
    fn spawned(&self, task: &TaskView<'_>) {
        let _ = task;
    }

    /// A task has [moved](crate::move_to()) to another queue, where it is ready. It was at `from` before, and was ready there or not.
    fn moved(&self, task: &TaskView<'_>, from: TaskRef, was_ready: bool) {
        let _ = (task, from, was_ready);
    }

    /// A task that waited is ready. One that yields is not told here but [there](Probe::polled), and one that was aborted nowhere.
    fn woken(&self, task: &TaskView<'_>, by: WokenBy) {
        let _ = (task, by);
    }

    /// Another thread wakes a task, or spawns it: on that thread, before the executor can know. The executor takes in several of them
    /// as one, and tells of it as [`woken`](Probe::woken) or [`spawned`](Probe::spawned) then, unless the task has ended or is refused.
    fn woken_elsewhere(&self, task: &AnyTask<'_>) {
        let _ = task;
    }

    /// A task is polled, the future of an aborted task is dropped, or the future given to `run_until` is polled. [`Poll::run`] does
    /// it, inside this call. If it is not run, the executor does so afterwards.
    fn poll(&self, poll: Poll<'_>) {
        poll.run();
    }

    /// A task was polled, and it is known what came of it. Comes after [`poll`](Probe::poll) and, of a task that has ended,
    /// [`ended`](Probe::ended). A poll that tokio's budget cut short and its repetition at once are told here as one.
    fn polled(&self, polled: &Polled<'_>) {
        let _ = polled;
    }

    /// The task is over, and its future dropped. Who awaits it is told afterwards.
    fn ended(&self, task: &TaskView<'_>, how: TaskEnd) {
        let _ = (task, how);
    }

    /// A waker of a task is used: on any thread, before it does what it is to do. Only if the probe [is interested](Interest::wakers).
    fn waker(&self, task: &AnyTask<'_>, op: WakerOp) {
        let _ = (task, op);
    }
}

/// What a probe wants beside the events that each is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it is what `Probe::interest` gives"]
pub struct Interest {
    pub(super) wakers: bool,
    pub(super) every_poll: bool,
    /// 0 for none.
    pub(super) one_in: u32,
    pub(super) only_timed: bool,
}

impl Interest {
    /// [`Probe::waker`], which each use of a waker then pays for.
    pub const fn wakers(mut self) -> Self {
        self.wakers = true;
        self
    }

    /// Has the executor read its clock after each poll, so that each is [timed](Polled::stands_for) by itself.
    pub const fn every_poll(mut self) -> Self {
        self.every_poll = true;
        self
    }

    /// Has one in so many polls of tasks be a [sample](Poll::is_sample), in the mean, drawn by lot among those that the executor does not
    /// time by itself. None for 0.
    pub const fn samples(mut self, one_in: u32) -> Self {
        self.one_in = one_in;
        self
    }

    /// Tells [`Probe::poll`] and [`Probe::polled`] of those polls of tasks alone that the executor times by itself, and of samples: the others
    /// pay next to nothing. Where one that is not told yields, the executor sets the task's [word](AnyTask::word) to its last clock reading.
    pub const fn only_timed(mut self) -> Self {
        self.only_timed = true;
        self
    }
}

/// A turn that begins. For [`Probe::turn_began`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnBegan {
    /// When.
    pub now_ns: u64,
    /// How long the host had the thread before, asleep or not.
    pub host_ns: u64,
    /// Whether the last turn had ended with work left, so that the host could do its own.
    pub was_visit: bool,
}

/// A turn that is over. For [`Probe::turn_ended`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnEnded {
    /// When.
    pub now_ns: u64,
    /// Whether nothing was left to do: if not, the host is only to have a look at its own.
    pub is_idle: bool,
}

/// A slice that is to be run. For [`Probe::slice`].
pub struct Slice<'a> {
    pub(crate) queue: QueueView,
    pub(crate) now_ns: u64,
    pub(crate) run: &'a mut dyn FnMut() -> SliceEnded,
}

impl Slice<'_> {
    /// The queue that was picked.
    pub fn queue(&self) -> &QueueView {
        &self.queue
    }

    /// When the slice begins.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Runs it.
    pub fn run(self) -> SliceEnded {
        (self.run)()
    }
}

impl fmt::Debug for Slice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slice").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// The queue of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueView {
    /// Its index, as in [`TaskRef`].
    pub index: u32,
    /// Its [number](crate::QueueStats::number).
    pub number: u32,
    /// Its name.
    pub name: Arc<str>,
    /// Its ready tasks.
    pub ready: usize,
}

/// How a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SliceEnded {
    /// When.
    pub now_ns: u64,
    /// Why.
    pub reason: SliceEndReason,
}

/// Why a slice was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SliceEndReason {
    /// The time granted was used up.
    Spent,
    /// A queue woke up that was to be served first.
    Preempted,
    /// No task of the queue was ready.
    Drained,
    /// The host was due.
    HostDue,
    /// Anything else: the future given to `run_until` was woken, or the queue's scheduler was replaced.
    Other,
}

/// A poll, or a drop, that is to be done. For [`Probe::poll`].
pub struct Poll<'a> {
    pub(crate) kind: PollKind,
    pub(crate) task: Option<TaskView<'a>>,
    pub(crate) now_ns: u64,
    pub(crate) is_sample: bool,
    pub(crate) run: &'a mut dyn FnMut(),
}

impl<'a> Poll<'a> {
    /// What is done.
    pub fn kind(&self) -> PollKind {
        self.kind
    }

    /// The task. None of the future given to `run_until`.
    pub fn task(&self) -> Option<TaskView<'a>> {
        self.task
    }

    /// When the clock was read last.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Whether it was drawn as a [sample](Interest::samples): the probe may time it.
    pub fn is_sample(&self) -> bool {
        self.is_sample
    }

    /// Does it.
    pub fn run(self) {
        (self.run)();
    }
}

impl fmt::Debug for Poll<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poll").field("kind", &self.kind).field("task", &self.task).finish_non_exhaustive()
    }
}

/// What a [`Poll`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PollKind {
    /// A poll of a task.
    Task,
    /// The drop of an aborted task's future.
    Drop,
    /// A poll of the future given to `run_until`.
    Main,
}

/// A poll of a task that is over. For [`Probe::polled`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Polled<'a> {
    /// The task, also if it has ended.
    pub task: TaskView<'a>,
    /// What came of the poll.
    pub outcome: PollOutcome,
    /// When the clock was read last.
    pub now_ns: u64,
    /// Whether that was after this poll.
    pub is_read: bool,
    /// How long the polls took since the clock was read before. 0 unless it [was read](Polled::is_read) after this one.
    pub took_ns: u64,
    /// How many polls this one stands for, if it was timed by itself: one, or where the queue's scheduler asks for service and short polls
    /// are timed by lot, several. 0 if it was not.
    pub stands_for: u32,
}

/// What came of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PollOutcome {
    /// The task waits for a wake.
    Pending,
    /// It was woken while it was polled: it is ready again.
    Yielded,
    /// It has ended.
    Finished,
}

/// By whom a task was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WokenBy {
    /// On the executor's thread, by a task or by the host: just now.
    Local,
    /// On another thread: it has come in now.
    Remote,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskEnd {
    /// It gave an output.
    Completed,
    /// It was aborted, or cancelled at the end of its executor.
    Cancelled,
    /// It panicked, in its poll or when its future was dropped.
    Panicked,
}

impl From<Finish> for TaskEnd {
    fn from(finish: Finish) -> Self {
        match finish {
            Finish::Completed => TaskEnd::Completed,
            Finish::Cancelled => TaskEnd::Cancelled,
            Finish::Panicked => TaskEnd::Panicked,
        }
    }
}

/// What is done with a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the operations")]
pub enum WakerOp {
    Clone,
    Wake,
    WakeByRef,
    Drop,
}

/// A task, as long as it lives and does not [move](Probe::moved): its queue, and its place there.
///
/// The place of a task that has ended, or moved away, is given to another one, with another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskRef {
    /// The index of its queue. That of a queue that is gone is given to another one.
    pub queue: u32,
    /// Its slot in the queue's records.
    pub slot: u32,
    /// How many tasks and groups the queue had had when it was spawned, modulo 2^32.
    pub generation: u32,
}

impl From<RecordKey> for TaskRef {
    fn from(RecordKey { queue, slot, generation }: RecordKey) -> Self {
        Self { queue, slot, generation }
    }
}

/// What of a task is known on any thread.
#[derive(Clone, Copy)]
pub struct AnyTask<'a>(&'a Header);

impl<'a> AnyTask<'a> {
    pub(super) fn new(task: &'a Header) -> Self {
        Self(task)
    }

    /// Its id.
    pub fn id(&self) -> Id {
        self.0.id
    }
}

#[cfg(feature = "observe")]
impl<'a> AnyTask<'a> {
    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&'a Arc<str>> {
        self.0.label.name()
    }

    /// Where it was spawned.
    pub fn location(&self) -> &'static std::panic::Location<'static> {
        self.0.label.location()
    }

    /// A word for the probe, `u64::MAX` when the task is spawned. A probe that is set later finds what the last one wrote.
    pub fn word(&self) -> &'a std::sync::atomic::AtomicU64 {
        self.0.marks.word()
    }
}

impl fmt::Debug for AnyTask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.0.id).finish()
    }
}

/// What of a task is known on its executor's thread.
#[derive(Clone, Copy)]
pub struct TaskView<'a> {
    task: AnyTask<'a>,
    place: Option<&'a dyn Place>,
    now_ns: u64,
}

impl<'a> TaskView<'a> {
    /// A task on its owner thread.
    pub(super) fn new(task: &'a Header) -> Self {
        Self { task: AnyTask::new(task), place: None, now_ns: task.shared.noted() }
    }

    /// The task of a handle, which is this thread's.
    pub(crate) fn of(handle: &'a AbortHandle, place: &'a dyn Place, now_ns: u64) -> Self {
        Self { task: AnyTask::new(handle.header()), place: Some(place), now_ns }
    }

    /// When the executor has read its clock last, as it tells of the task.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Its queue, and its place there.
    pub fn place(&self) -> TaskRef {
        self.task.0.owned.record.get().into()
    }

    /// Its queue's [number](crate::QueueStats::number). None in [`woken`](Probe::woken) and [`ended`](Probe::ended).
    pub fn queue_number(&self) -> Option<u32> {
        self.place.map(Place::queue_number)
    }

    /// Its queue's name. None in [`woken`](Probe::woken) and [`ended`](Probe::ended).
    pub fn queue_name(&self) -> Option<Arc<str>> {
        self.place.map(Place::queue_name)
    }

    /// Its group, if it has one. None in [`woken`](Probe::woken) and [`ended`](Probe::ended).
    pub fn group(&self) -> Option<GroupView> {
        self.place.and_then(Place::group)
    }
}

#[cfg(feature = "observe")]
impl TaskView<'_> {
    /// Its [tag](crate::TaskBuilder::tag), if it has one: its own, or inherited.
    pub fn tag(&self) -> Option<u64> {
        self.task.0.marks.tag()
    }
}

impl<'a> std::ops::Deref for TaskView<'a> {
    type Target = AnyTask<'a>;

    fn deref(&self) -> &AnyTask<'a> {
        &self.task
    }
}

impl fmt::Debug for TaskView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.task.fmt(f)
    }
}

/// A group of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupView {
    /// Its index in its queue. That of a group that has closed is given to another one, or to a task.
    pub index: u32,
    /// Its [number](crate::GroupStats::number).
    pub number: u32,
    /// The key that it was opened with.
    pub key: u64,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
}

/// Where a task is, to be looked up if a probe asks.
pub(crate) trait Place {
    fn queue_number(&self) -> u32;
    fn queue_name(&self) -> Arc<str>;
    fn group(&self) -> Option<GroupView>;
}

/// The clock of an executor, for any thread. From [`Executor::clock`](crate::Executor::clock).
///
/// # Example
///
/// ```
/// use clockworker::{Executor, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let ex = Executor::builder().clock(clock.clone()).build().unwrap();
/// clock.advance(Duration::from_micros(7));
/// assert_eq!(ex.clock().now_ns(), 7_000);
/// ```
#[derive(Clone, Debug)]
pub struct ExecutorClock(pub(crate) Clock);

impl From<ManualClock> for ExecutorClock {
    fn from(clock: ManualClock) -> Self {
        Self(Clock::Manual(clock))
    }
}

#[cfg(feature = "tokio")]
impl From<crate::base::TokioClock> for ExecutorClock {
    fn from(clock: crate::base::TokioClock) -> Self {
        Self(Clock::Tokio(Arc::new(clock)))
    }
}

impl ExecutorClock {
    /// Reads it: nanoseconds since the executor was made. The executor does not learn of it.
    pub fn now_ns(&self) -> u64 {
        self.0.now()
    }
}

/// A queue as it is now. From [`Executor::look_at_queues`](crate::Executor::look_at_queues).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueLook {
    /// Its index, as in [`TaskRef`].
    pub index: u32,
    /// Its [number](crate::QueueStats::number).
    pub number: u32,
    /// Its name.
    pub name: Arc<str>,
    /// Its share.
    pub share: u32,
    /// Its request.
    pub request: Duration,
    /// Its open groups. None if its scheduler is the caller.
    pub groups: Vec<GroupView>,
}

/// All tasks as they are now. From [`Executor::look_at_tasks`](crate::Executor::look_at_tasks).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TasksLook {
    /// When.
    pub now_ns: u64,
    /// By queue, in the order in which those were created; in a queue in no order.
    pub tasks: Vec<TaskLook>,
    /// Queues whose tasks are missing, as the caller is one of their schedulers, which is being called.
    pub busy_queues: Vec<Arc<str>>,
}

/// A task in a [`TasksLook`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskLook {
    /// Its id.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
    /// Where it was spawned.
    pub location: Option<&'static std::panic::Location<'static>>,
    /// The name of its queue.
    pub queue: Arc<str>,
    /// Its group, if it has one.
    pub group: Option<GroupView>,
    /// What it does.
    pub state: TaskState,
    /// When it was spawned, or came in from another thread.
    pub spawned_ns: u64,
    /// What it has had of the CPU, as far as its scheduler was told. None where that does not ask
    /// ([`CLOCK`](crate::schedulers::Scheduler::CLOCK)).
    pub service: Option<Duration>,
    /// The [word](AnyTask::word) of the probe. None of a task that is being polled.
    pub word: Option<u64>,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// It waits for a wake.
    Waiting,
    /// It waits to be polled.
    Ready,
    /// It is being polled, or its future dropped.
    BeingPolled,
    /// It was aborted, and its future is still to be dropped.
    Aborted,
}
