//! The executor's state, and what it decides between slices. Owner thread only.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use clockworker_schedulers::{Eevdf, QueueId, Scheduler, Share};

use crate::clock::Clock;
use crate::host::MainWaker;
use crate::lane::{GroupIndex, Lane, MAX_TASKS, NO_GROUP};
use crate::queue::QueueError;
use crate::shared::{QueueKey, Refusal, Shared};
use crate::slice::SliceEnd;
use crate::stats::{Counter, Counters, ExecutorStats, QueueStats};
use crate::task::{Arrival, Cause, JoinHandle, LiveTask, Place, Refused, SharedRef, refuse, spawn_here};

/// How long an executor may keep its host waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostLimits {
    pub(crate) budget_ns: u64,
    pub(crate) poll_cap: u32,
}

/// See the [module docs](self).
pub(crate) struct Core {
    pub(crate) shared: SharedRef,
    clock: Clock,
    limits: HostLimits,
    /// By `QueueKey::index`. None where a queue was closed and is gone.
    lanes: RefCell<Vec<Option<Rc<Lane>>>>,
    /// Where tasks go that are spawned outside a task: the first queue created.
    default_lane: OnceCell<Rc<Lane>>,
    eevdf: RefCell<Eevdf>,
    generation: Cell<u32>,
    refused: Cell<Option<Refusal>>,

    /// The last clock reading. Never goes back.
    now: Cell<u64>,
    /// Up to when the running queue's service is charged.
    charged_until: Cell<u64>,
    /// The queue whose slice it is.
    running: Cell<Option<QueueId>>,
    /// The task that is being polled, for what it spawns.
    current: Cell<Current>,
    /// A queue woke up that is to be served before the running one.
    preempted: Cell<bool>,
    /// More than one queue is runnable.
    contended: Cell<bool>,
    /// When the running slice's grant ends, while queues contend.
    slice_deadline: Cell<u64>,
    /// When the host must run.
    host_deadline: Cell<u64>,
    /// Polls left until the host must run.
    polls_left: Cell<u32>,
    /// How many polls to do between clock readings, where none is needed after each.
    pub(crate) stride: Cell<u64>,

    /// Whether somebody drives the executor.
    pub(crate) driven: Cell<bool>,
    /// The flag of the future that is being run, and its waker.
    pub(crate) main: Arc<MainWaker>,
    pub(crate) main_waker: Waker,
    /// Woken when no task is left, for a shutdown.
    drained: RefCell<Option<Waker>>,
    pub(crate) host_polls: Counter,
    host_yields: Counter,
    /// The sums over queues that are gone.
    retired: Counters,
}

/// What a task passes on to the tasks it spawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Current {
    queue: u32,
    group: GroupIndex,
}

impl Current {
    /// No task is being polled.
    const NONE: Current = Current { queue: u32::MAX, group: NO_GROUP };
}

impl Core {
    pub(crate) fn new(clock: Clock, limits: HostLimits) -> Rc<Self> {
        let now = clock.now();
        let shared = SharedRef::new(Shared::new());
        let main = MainWaker::new(&shared);
        Rc::new(Self {
            shared,
            clock,
            limits,
            lanes: RefCell::default(),
            default_lane: OnceCell::new(),
            eevdf: RefCell::new(Eevdf::new()),
            generation: Cell::new(0),
            refused: Cell::new(None),
            now: Cell::new(now),
            charged_until: Cell::new(now),
            running: Cell::new(None),
            current: Cell::new(Current::NONE),
            preempted: Cell::new(false),
            contended: Cell::new(false),
            slice_deadline: Cell::new(u64::MAX),
            host_deadline: Cell::new(u64::MAX),
            polls_left: Cell::new(0),
            stride: Cell::new(1),
            driven: Cell::new(false),
            main_waker: Waker::from(Arc::clone(&main)),
            main,
            drained: RefCell::new(None),
            host_polls: Counter::default(),
            host_yields: Counter::default(),
            retired: Counters::default(),
        })
    }

    // ---- Queues

    pub(crate) fn create_queue<S: Scheduler + 'static>(
        &self,
        name: &str,
        share: Share,
        request_ns: u64,
        scheduler: S,
    ) -> Result<Rc<Lane>, QueueError> {
        if self.refused.get().is_some() {
            return Err(QueueError::stopped());
        }
        let id = self.eevdf.borrow_mut().add(share, request_ns);
        self.generation.set(self.generation.get().wrapping_add(1));
        let key = QueueKey { index: id.index() as u32, generation: self.generation.get() };
        if !self.shared.add_name(name, key) {
            self.eevdf.borrow_mut().remove(id);
            return Err(QueueError::name_taken(name));
        }
        let lane = Lane::new(name.into(), key, id, share, request_ns, scheduler);
        let mut lanes = self.lanes.borrow_mut();
        if lanes.len() <= id.index() {
            lanes.resize(id.index() + 1, None);
        }
        lanes[id.index()] = Some(Rc::clone(&lane));
        let _ = self.default_lane.get_or_init(|| Rc::clone(&lane));
        Ok(lane)
    }

    fn lane(&self, index: u32) -> Option<Rc<Lane>> {
        self.lanes.borrow().get(index as usize)?.clone()
    }

    fn lanes(&self) -> Vec<Rc<Lane>> {
        self.lanes.borrow().iter().flatten().cloned().collect()
    }

    /// Changes a queue's share and request. False if the queue is gone: its id may be another's by now.
    pub(crate) fn set_share(&self, lane: &Lane, share: Share, request_ns: u64) -> bool {
        if lane.retired.get() {
            return false;
        }
        // What was served up to now was served at the old share.
        self.charge_up_to_now();
        lane.share.set(share);
        lane.request_ns.set(request_ns);
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.set_share(lane.id, share);
        eevdf.set_request(lane.id, request_ns);
        drop(eevdf);
        self.grant_rest();
        true
    }

    /// Stops a queue from taking tasks. It is gone once its last task has finished.
    pub(crate) fn close_queue(&self, lane: &Lane) {
        if !lane.closed.replace(true) {
            self.shared.remove_name(&lane.name);
            self.retire_if_done(lane);
        }
    }

    /// Forgets a closed queue whose tasks have all finished, unless its slice is under way.
    fn retire_if_done(&self, lane: &Lane) {
        if !lane.closed.get() || lane.live.get() > 0 || self.running.get() == Some(lane.id) {
            return;
        }
        if lane.retired.replace(true) {
            return;
        }
        let gone = self.lanes.borrow_mut().get_mut(lane.key.index as usize).and_then(Option::take);
        self.retired.absorb(&lane.counters);
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.remove(lane.id);
        self.contended.set(eevdf.runnable() > 1);
        drop(eevdf);
        // The last reference to the queue may be `gone`, with its scheduler, whose drop is user code.
        crate::panics::drop_quietly(gone);
    }

    // ---- Spawning

    /// Spawns a task on the owner thread.
    pub(crate) fn spawn<F>(&self, lane: &Lane, group: GroupIndex, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        if let Some(why) = self.refusal(lane) {
            return refuse(&self.shared, why);
        }
        // Tasks woken before this one was spawned come first.
        if self.has_woken() {
            self.admit_woken();
        }
        let mut handle = None;
        lane.spawn(group, |place| {
            let (task, join) = spawn_here(self.shared.clone(), place, future);
            handle = Some(join);
            task
        });
        self.after_ready(lane);
        self.shared.inbox.wake_parked_host();
        handle.unwrap_or_else(|| refuse(&self.shared, Refused::QueueClosed))
    }

    fn refusal(&self, lane: &Lane) -> Option<Refused> {
        match self.refused.get() {
            Some(Refusal::ShutDown) => Some(Refused::ShutDown),
            Some(Refusal::Dropped) => Some(Refused::ExecutorDropped),
            None if lane.closed.get() => Some(Refused::QueueClosed),
            None => (lane.live.get() >= MAX_TASKS).then_some(Refused::QueueFull),
        }
    }

    /// Spawns where the task that is being polled belongs; in the default queue if none is.
    pub(crate) fn spawn_beside_current<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let (lane, group) = match self.current.get() {
            Current::NONE => (self.default_lane.get().cloned(), NO_GROUP),
            Current { queue, group } => (self.lane(queue), group),
        };
        match lane {
            Some(lane) => self.spawn(&lane, group, future),
            None => refuse(&self.shared, Refused::QueueClosed),
        }
    }

    // ---- Arrivals

    /// Whether tasks were woken on this thread.
    #[inline]
    fn has_woken(&self) -> bool {
        self.shared.arrivals().is_some_and(|arrivals| !arrivals.is_empty())
    }

    /// Whether tasks were woken, or spawned on other threads.
    #[inline]
    pub(crate) fn has_arrivals(&self) -> bool {
        self.has_woken() || self.shared.inbox.has_mail()
    }

    /// Hands the tasks woken on this thread to their schedulers.
    fn admit_woken(&self) {
        let Some(arrivals) = self.shared.arrivals() else { return };
        while let Some(arrival) = arrivals.next() {
            self.admit(arrival);
        }
    }

    /// Hands the tasks that arrived to their schedulers, and drops the futures of those that were aborted.
    ///
    /// Bounded: what is aborted here may wake and spawn, but what it aborts comes in the next batch.
    pub(crate) fn admit_arrivals(&self) {
        self.admit_woken();
        let Some(arrivals) = self.shared.arrivals() else { return };
        for arrival in self.shared.inbox.take_all(arrivals) {
            self.admit(arrival);
        }
    }

    fn admit(&self, arrival: Arrival) {
        match arrival {
            Arrival::Nothing => {}
            Arrival::Ready(place) => {
                if let Some(lane) = self.lane(place.queue).filter(|lane| lane.make_ready(place)) {
                    self.after_ready(&lane);
                }
            }
            Arrival::Aborted(place) => {
                if let Some(lane) = self.lane(place.queue) {
                    self.abort(&lane, place);
                }
            }
            Arrival::New(task, place) => self.admit_new(task, place),
        }
    }

    /// Drops an aborted task's future. What that spawns belongs where the task did.
    fn abort(&self, lane: &Lane, place: Place) {
        let Some(aborted) = lane.take_aborted(place) else { return };
        let outer = self.current.replace(Current { queue: place.queue, group: aborted.group });
        lane.cancel_aborted(aborted, Cause::Aborted);
        self.current.set(outer);
        self.after_finish(lane);
    }

    /// A task that another thread spawned.
    fn admit_new(&self, task: LiveTask, place: Place) {
        let lane = self.lane(place.queue).filter(|lane| lane.key.generation == place.generation);
        let cause = match &lane {
            None => Some(Cause::Refused(Refused::QueueClosed)),
            Some(lane) => self.refusal(lane).map(Cause::Refused),
        };
        let cause = cause.or_else(|| task.is_aborted().then_some(Cause::Aborted));
        let (Some(lane), None) = (&lane, cause) else {
            let finish = task.cancel(cause.unwrap_or(Cause::Aborted));
            // Booked afterwards: what the cancelling drops may close the queue.
            let counters = lane.as_ref().filter(|lane| !lane.retired.get()).map(|lane| &lane.counters);
            let counters = counters.unwrap_or(&self.retired);
            counters.spawned.add(1);
            counters.finished(finish);
            return;
        };
        lane.spawn(NO_GROUP, |place| {
            task.settle_in(place);
            task
        });
        self.after_ready(lane);
    }

    /// A task of the queue became ready: if it is the first, the queue joins the others.
    #[inline]
    fn after_ready(&self, lane: &Lane) {
        if !lane.runnable.replace(true) {
            self.join(lane);
        }
    }

    /// A queue became runnable: places it between the others, and decides whether it is to be served first.
    fn join(&self, lane: &Lane) {
        self.charge_up_to_now();
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.wake(lane.id);
        self.contended.set(eevdf.runnable() > 1);
        drop(eevdf);
        self.grant_rest();
        let Some(running) = self.running.get() else { return };
        if self.eevdf.borrow().preempts(lane.id, running) {
            self.preempted.set(true);
        }
    }

    // ---- Slices

    /// Begins a turn of the executor on its host's thread.
    pub(crate) fn begin_turn(&self) {
        self.host_polls.add(1);
        let now = self.read_clock();
        self.host_deadline.set(now.saturating_add(self.limits.budget_ns));
        self.polls_left.set(self.limits.poll_cap);
    }

    /// Gives the queue that EEVDF picks a slice. None if no queue is runnable.
    pub(crate) fn run_slice(&self) -> Option<SliceEnd> {
        let lane = self.pick()?;
        self.running.set(Some(lane.id));
        self.preempted.set(false);
        self.charged_until.set(self.now.get());
        self.grant_rest();
        let end = lane.run_slice(self);
        self.current.set(Current::NONE);
        self.end_slice(&lane, end);
        Some(end)
    }

    fn pick(&self) -> Option<Rc<Lane>> {
        let picked = self.eevdf.borrow_mut().pick()?;
        self.lane(picked.index() as u32)
    }

    /// Charges what the slice took, and books how it ended.
    fn end_slice(&self, lane: &Lane, end: SliceEnd) {
        self.charge_up_to_now();
        let now = self.now.get();
        self.running.set(None);
        lane.counters.slices.add(1);
        match end {
            SliceEnd::Preempted => lane.counters.preemptions.add(1),
            SliceEnd::Spent => {
                let over = now.saturating_sub(self.slice_deadline.get());
                lane.counters.overruns.add(u64::from(over > 0));
                lane.counters.overrun_ns.add(over);
            }
            _ => {}
        }
        if lane.ready.get() == 0 {
            lane.runnable.set(false);
            let mut eevdf = self.eevdf.borrow_mut();
            eevdf.sleep(lane.id);
            self.contended.set(eevdf.runnable() > 1);
        }
        self.after_finish(lane);
    }

    /// Grants the running queue what is left of its request.
    fn grant_rest(&self) {
        if let Some(running) = self.running.get() {
            let left = self.eevdf.borrow().left_ns(running);
            self.slice_deadline.set(self.now.get().saturating_add(left));
        }
    }

    /// Charges the running queue for the time since it was last charged.
    fn charge_up_to_now(&self) {
        let Some(running) = self.running.get() else { return };
        let now = self.read_clock();
        let service = now - self.charged_until.replace(now);
        if let Some(lane) = self.lane(running.index() as u32) {
            lane.counters.busy_ns.add(service);
        }
        self.eevdf.borrow_mut().charge(running, service);
    }

    /// Some task of the queue may have finished: is the queue done, or the executor?
    fn after_finish(&self, lane: &Lane) {
        self.retire_if_done(lane);
        if self.drained.borrow().is_some() && self.live() == 0 {
            let waker = self.drained.borrow_mut().take();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    // ---- What the slice asks after each poll

    /// The last clock reading.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Reads the clock. A clock that went backwards stands still until it has caught up.
    #[inline]
    pub(crate) fn read_clock(&self) -> u64 {
        let now = self.clock.now().max(self.now.get());
        self.now.set(now);
        now
    }

    #[inline]
    pub(crate) fn contended(&self) -> bool {
        self.contended.get()
    }

    #[inline]
    pub(crate) fn is_preempted(&self) -> bool {
        self.preempted.get()
    }

    /// Counts a poll; false if the host must run.
    #[inline]
    pub(crate) fn count_poll(&self) -> bool {
        let left = self.polls_left.get().saturating_sub(1);
        self.polls_left.set(left);
        left > 0
    }

    /// Whether the host or another queue is due at `now`.
    #[inline]
    pub(crate) fn time_is_up(&self, now: u64) -> Option<SliceEnd> {
        if now >= self.host_deadline.get() {
            return Some(SliceEnd::HostBudget);
        }
        (self.contended.get() && now >= self.slice_deadline.get()).then_some(SliceEnd::Spent)
    }

    /// Whether the host must run, between slices.
    pub(crate) fn is_host_due(&self) -> bool {
        self.polls_left.get() == 0 || self.now.get() >= self.host_deadline.get()
    }

    /// Notes which task is polled next.
    #[inline]
    pub(crate) fn enter_task(&self, lane: &Lane, group: GroupIndex) {
        self.current.set(Current { queue: lane.key.index, group });
    }

    /// Whether the task that is being polled should yield: its slice or the host's patience is over, or something came
    /// that may be to be served first. Looks, but does not admit: no other task's future is dropped inside a poll.
    pub(crate) fn should_yield(&self) -> bool {
        let current = self.current.get();
        if current == Current::NONE {
            return false;
        }
        if self.preempted.get() || self.main.is_woken() || self.shared.inbox.has_mail() {
            return true;
        }
        let other_queue = |arrivals: &crate::task::Arrivals| arrivals.any_of_other_queue(current.queue);
        self.shared.arrivals().is_some_and(other_queue) || self.time_is_up(self.read_clock()).is_some()
    }

    /// Goes back to the host although there is work left.
    pub(crate) fn yield_to_host(&self, host: &Waker) {
        self.host_yields.add(1);
        host.wake_by_ref();
    }

    // ---- The end

    /// Tasks that have not finished. Those from other threads that were not admitted yet are not counted.
    pub(crate) fn live(&self) -> usize {
        self.lanes.borrow().iter().flatten().map(|lane| lane.live.get()).sum()
    }

    /// Has `waker` woken once no task is left.
    pub(crate) fn on_drained(&self, waker: &Waker) {
        let waker = waker.clone();
        let old = self.drained.replace(Some(waker));
        drop(old);
    }

    /// Takes no more tasks.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.refused.set(Some(refusal));
        self.shared.refuse(refusal);
    }

    /// Cancels every task there is.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        self.admit_arrivals();
        for lane in self.lanes() {
            lane.cancel_all(cause);
            if lane.runnable.replace(false) {
                self.eevdf.borrow_mut().sleep(lane.id);
            }
            self.after_finish(&lane);
        }
        // Links to tasks that are complete now.
        self.admit_arrivals();
    }

    /// Drops every future, then closes the inbox. Nothing can bring a future back afterwards: wakers can only notify,
    /// and a notification of a complete task does nothing.
    pub(crate) fn tear_down(&self) {
        self.refuse(Refusal::Dropped);
        self.cancel_all(Cause::ExecutorDropped);
        let Some(arrivals) = self.shared.arrivals() else { return };
        for arrival in self.shared.inbox.close(arrivals) {
            self.admit(arrival);
        }
    }

    pub(crate) fn stats(&self) -> ExecutorStats {
        let mut lanes = self.lanes();
        lanes.sort_by_key(|lane| lane.key.generation);
        let sum = Counters::default();
        sum.absorb(&self.retired);
        lanes.iter().for_each(|lane| sum.absorb(&lane.counters));
        ExecutorStats {
            polls: sum.polls.get(),
            busy: Duration::from_nanos(sum.busy_ns.get()),
            slices: sum.slices.get(),
            overruns: sum.overruns.get(),
            overrun_time: Duration::from_nanos(sum.overrun_ns.get()),
            preemptions: sum.preemptions.get(),
            host_polls: self.host_polls.get(),
            host_yields: self.host_yields.get(),
            ready: lanes.iter().map(|lane| lane.ready.get()).sum(),
            live: lanes.iter().map(|lane| lane.live.get()).sum(),
            spawned: sum.spawned.get(),
            completed: sum.completed.get(),
            cancelled: sum.cancelled.get(),
            panicked: sum.panicked.get(),
            queues: lanes.iter().map(|lane| Self::queue_stats(lane)).collect(),
        }
    }

    pub(crate) fn queue_stats(lane: &Lane) -> QueueStats {
        let counters = &lane.counters;
        QueueStats {
            name: lane.name.to_string(),
            share: lane.share.get().get(),
            request: Duration::from_nanos(lane.request_ns.get()),
            ready: lane.ready.get(),
            live: lane.live.get(),
            polls: counters.polls.get(),
            busy: Duration::from_nanos(counters.busy_ns.get()),
            slices: counters.slices.get(),
            overruns: counters.overruns.get(),
            overrun_time: Duration::from_nanos(counters.overrun_ns.get()),
            preemptions: counters.preemptions.get(),
            spawned: counters.spawned.get(),
            completed: counters.completed.get(),
            cancelled: counters.cancelled.get(),
            panicked: counters.panicked.get(),
            policy_fault: lane.fault.get(),
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.shared.close_credits();
    }
}
