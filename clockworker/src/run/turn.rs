//! One turn on the host's thread: admission, the future given to `run_until`, slices, until the host must run.

use std::cell::Cell;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::Core;
use super::meter::Account;
use super::queue::RunQueue;
use super::timing::{MAIN_PATIENCE, Pace, SliceEnd};
use crate::queue::Counter;
use crate::task::{HostWaker, Id, coop};

/// The state of turns on the host's thread.
pub(super) struct TurnState {
    /// The most polls in a turn.
    poll_cap: u32,
    /// Whether the last turn had no slice: the next begins with one.
    owes_slice: Cell<bool>,
    /// How many tasks had come when the turn before ended with a visit.
    came_before: Cell<u32>,
    /// In a turn, the task of another executor inside which this executor is run, if it is inside one.
    outer_task: Cell<Option<Option<Id>>>,
    pub(super) host_polls: Counter,
    pub(super) host_yields: Counter,
}

impl TurnState {
    pub(super) fn new(poll_cap: u32) -> Self {
        Self {
            poll_cap,
            owes_slice: Cell::new(false),
            came_before: Cell::new(0),
            outer_task: Cell::new(None),
            host_polls: Counter::default(),
            host_yields: Counter::default(),
        }
    }

    /// The polls of the turn so far, but for those of a slice under way.
    pub(super) fn polls(&self, pace: &Pace) -> u32 {
        self.poll_cap - pace.polls_left()
    }

    /// The task of another executor that is the current one where no task of this one is. Outside of turns that is `current`.
    #[inline]
    pub(super) fn outer_task(&self, current: Option<Id>) -> Option<Id> {
        self.outer_task.get().unwrap_or(current)
    }
}

/// Takes a turn on the host's thread: until `poll_main` is ready, nothing is left to do, or the host must run.
///
/// `poll_main` polls the future given to `run_until`, if it was woken. It is called often.
pub(crate) fn turn<T>(core: &Core, host: &HostWaker, mut poll_main: impl FnMut() -> Poll<T>) -> Poll<T> {
    let _turn = TurnGuard::begin(core);
    // The last turn went by in admission: now tasks are polled first.
    let mut slice_first = core.turn.owes_slice.take();
    loop {
        if core.main.waits_for() == 0
            && let Poll::Ready(output) = poll_main()
        {
            core.watch();
            return Poll::Ready(output);
        }
        match core.step(&mut slice_first) {
            Next::Step => {}
            Next::Visit => {
                core.yield_to_host(host);
                return Poll::Pending;
            }
            Next::Park => {
                if park(core, host) {
                    if core.pacer.is_visit_due(core.meter.now()) {
                        core.mark_if_polled();
                    }
                    if !core.set_alarm() {
                        core.yield_to_host(host);
                    }
                    return Poll::Pending;
                }
            }
            Next::Fail => return Poll::Pending,
        }
    }
}

/// Takes a turn of so long and one poll, for a host that is not woken for what it leaves. Whether it leaves work; if not, it has
/// parked the inbox.
pub(crate) fn turn_for(core: &Core, host: &HostWaker, budget: Duration) -> bool {
    let _turn = TurnGuard::begin(core);
    let (began, budget_ns) = (core.meter.now(), u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX));
    core.pacer.end_turn_at(began.saturating_add(budget_ns));
    core.admission.end_at(began.saturating_add(budget_ns / 2));
    core.main.wait_for(0);
    core.slice.always_exact.set(true);
    let mut slice_first = core.turn.owes_slice.take();
    let is_left = loop {
        // Runs that are under way are polled by their hosts.
        core.shared.main.take_woken();
        match core.step(&mut slice_first) {
            Next::Step => {}
            // The cap of polls is for a clock that stands still.
            Next::Visit if core.meter.runs() && !core.pacer.is_visit_due(core.meter.now()) => {
                core.pace.begin_turn(core.turn.poll_cap);
            }
            Next::Visit => {
                core.watch();
                core.turn.host_yields.add(1);
                break true;
            }
            Next::Park if !park(core, host) => {}
            Next::Park => break false,
            Next::Fail => break true,
        }
    };
    core.slice.always_exact.set(false);
    is_left
}

/// What comes after a step of a turn.
enum Next {
    /// Another step.
    Step,
    /// There is work left, but the host must run.
    Visit,
    /// There is nothing to do.
    Park,
    /// Tasks are not polled any more: the run checks [`Ending`](super::ending::Ending), and panics.
    Fail,
}

impl Core {
    /// Admits tasks, unless a slice comes first, then gives one queue a slice.
    #[inline(always)] // the loops of turns
    fn step(&self, slice_first: &mut bool) -> Next {
        if self.has_incoming() && !std::mem::take(slice_first) {
            let all = self.receive_between_slices();
            if self.end_if_failed() {
                return Next::Fail;
            }
            if !all && self.is_host_due() {
                self.turn.owes_slice.set(true);
                return Next::Visit;
            }
        }
        if !self.has_runnable() {
            return self.after_no_slice();
        }
        match self.run_slice() {
            Some(_) if self.end_if_failed() => Next::Fail,
            Some(SliceEnd::HostDue | SliceEnd::PollCap) => self.visit_for_work(),
            Some(_) => self.unless_host_is_due(Next::Step),
            None => self.after_no_slice(),
        }
    }

    /// Whether a queue has work that may run.
    #[inline]
    fn has_runnable(&self) -> bool {
        self.queues.tree.borrow().has_work(self.meter.now())
    }

    /// Says what comes next when no queue is runnable.
    #[inline(always)] // as `step`
    fn after_no_slice(&self) -> Next {
        if self.has_incoming() {
            // A future dropped at admission woke a task, or other threads have sent more, of which there may be no end.
            self.meter.read();
            return self.unless_host_is_due(Next::Step);
        }
        // There is no task to wait for.
        self.main.wait_for(0);
        if !self.shared.main.is_woken() {
            return Next::Park;
        }
        // The future given to `run_until` woke itself. Where a clock stands still, only the count of polls ends the turn.
        let next = self.unless_host_is_due(Next::Step);
        self.pace.count_one();
        next
    }

    #[inline(always)] // as `step`
    fn unless_host_is_due(&self, next: Next) -> Next {
        if self.is_host_due() { self.visit_for_work() } else { next }
    }

    /// Marks what the host has deferred, at the end of a turn that polled tasks and leaves nothing.
    #[cold]
    fn mark_if_polled(&self) {
        if self.turn.polls(&self.pace) > 0 {
            self.turn.came_before.set(self.arrivals().came());
            self.deferral.mark_at_rest();
        }
    }

    /// The host is due: it is visited unless nothing is left to do, in which case the turn ends by parking.
    fn visit_for_work(&self) -> Next {
        if self.has_work() { Next::Visit } else { Next::Step }
    }

    /// Whether anything is left to do.
    fn has_work(&self) -> bool {
        self.has_incoming() || self.shared.main.is_woken() || self.has_runnable()
    }
}

/// Polls the future given to `run_until`, in a turn and between slices.
pub(crate) fn poll_in_turn<T>(
    core: &Core,
    waker: &Waker,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    Id::make_current(core.turn.outer_task(None));
    coop::begin_poll();
    core.meter.begin(Account::Main);
    let mut cx = Context::from_waker(waker);
    let polled = match core.shared.probe() {
        None => poll(&mut cx),
        Some(probe) => core.poll_main_probed(&*probe, || poll(&mut cx)),
    };
    // It woke itself, to let others run.
    let yielded = core.shared.main.is_woken();
    core.main.wait_for(if yielded { MAIN_PATIENCE } else { 0 });
    core.meter.end_main(yielded);
    if core.coop_budget.is_spent() {
        // tokio cut it short: it yields to the tasks.
        core.coop_budget.renew(0);
        waker.wake_by_ref();
    }
    polled
}

/// The guard of a turn under way.
struct TurnGuard<'a> {
    core: &'a Core,
    /// What was left of the ready awaits of a poll that this turn is inside of.
    left: u32,
}

impl<'a> TurnGuard<'a> {
    fn begin(core: &'a Core) -> Self {
        core.begin_turn();
        core.coop_budget.keep();
        // The executor may be run inside a task of another one.
        core.turn.outer_task.set(Some(Id::current()));
        TurnGuard { core, left: coop::left() }
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        Id::make_current(self.core.turn.outer_task.take().flatten());
        coop::go_on(self.left);
        self.core.coop_budget.give_back();
        self.core.end_turn();
    }
}

/// Parks the inbox, so that the next wake wakes the host. False if something came meanwhile.
#[inline]
fn park(core: &Core, host: &HostWaker) -> bool {
    let inbox = &core.shared.inbox;
    if !inbox.park(host) {
        return false;
    }
    if core.shared.main.is_woken_by_now() {
        inbox.unpark();
        return false;
    }
    true
}

impl Core {
    /// Begins a turn of the executor on its host's thread.
    pub(crate) fn begin_turn(&self) {
        self.turn.host_polls.add(1);
        let (now, took_ns) = self.meter.end_host();
        self.tell_turn(now, took_ns, self.pacer.is_visiting());
        let it_deferred = self.deferral.end_visit();
        self.arrivals().begin_turn();
        self.pacer.end_visit(took_ns, it_deferred, || self.has_brought_nothing());
        let budget_ns = self.pacer.begin_turn(now);
        self.admission.end_at(now.saturating_add(budget_ns / 2));
        self.pace.begin_turn(self.turn.poll_cap);
    }

    /// Whether the host's visit woke no task. What another thread sent, and a wake of the future given to `run_until`, may have come before it,
    /// and count as brought.
    fn has_brought_nothing(&self) -> bool {
        let none_came = self.arrivals().came() == self.turn.came_before.get();
        none_came && !self.has_mail() && !self.shared.main.is_woken()
    }

    /// How many turns there were.
    pub(crate) fn turns(&self) -> u64 {
        self.turn.host_polls.get()
    }

    /// Whether the last turn ended with work left, and has woken its host.
    pub(crate) fn is_visiting(&self) -> bool {
        self.pacer.is_visiting()
    }

    /// Renews tokio's budget, which a poll of the queue has spent. If that fails, the host must run after this poll. True if
    /// others had spent some of the budget before that poll, and it is whole now.
    pub(crate) fn renew_coop_budget(&self, queue: &RunQueue) -> bool {
        let polls = queue.counters.polls.get();
        let by_others = !self.coop_budget.note_cut(polls);
        // For the same task once more, or for the task after it.
        self.coop_budget.renew(if by_others { polls } else { polls + 1 });
        let renewed = !self.coop_budget.is_spent();
        if !renewed {
            self.pacer.make_due();
            self.slice.look_at_time();
        }
        by_others && renewed
    }

    /// Ends the turn: time is the host's from now on.
    pub(crate) fn end_turn(&self) {
        self.meter.begin(Account::Host);
        self.tell_turn_end(!self.pacer.is_visiting());
    }

    /// Whether the task that is being polled should yield: its slice or the host's patience is over, or what came is to be served first,
    /// or may be. Does not receive: no other task's future is dropped inside a poll.
    pub(crate) fn should_yield(&self) -> bool {
        let Some(current) = self.slice.current() else { return self.is_main_due_to_yield() };
        if self.shared.main.is_woken() || self.has_mail() {
            return true;
        }
        let arrivals = self.arrivals();
        if arrivals.any_news_but_of(current.queue)
            && let Some(queue) = self.current_queue()
        {
            self.wake_queues_in_slice(&queue);
            if arrivals.any_news() {
                return true; // there are very many
            }
            let own = queue.arrivals();
            if !own.is_empty() {
                // Handed over after the poll.
                arrivals.note(own);
            }
        }
        self.is_preempted() || self.is_poll_to_end()
    }

    /// Whether the future given to `run_until` is being polled, and the host is due.
    #[cold]
    fn is_main_due_to_yield(&self) -> bool {
        self.meter.is_main() && self.pacer.is_visit_due(self.meter.look())
    }

    /// Ends the turn with work left: wakes the host, for it to poll the executor again.
    pub(crate) fn yield_to_host(&self, host: &Waker) {
        self.watch();
        self.turn.host_yields.add(1);
        self.turn.came_before.set(self.arrivals().came());
        self.pacer.begin_visit();
        self.deferral.visit(host);
    }
}

/// What the executor keeps of the future given to `run_until`, beside `MainFlag`.
#[derive(Default)]
pub(crate) struct MainFuture {
    /// Polls of tasks that the future waits for, because it woke itself.
    waits_for: Cell<u32>,
}

impl MainFuture {
    /// Polls of tasks that the future waits for.
    #[inline]
    pub(crate) fn waits_for(&self) -> u32 {
        self.waits_for.get()
    }

    /// Has the future wait for so many polls of tasks.
    #[inline]
    pub(crate) fn wait_for(&self, polls: u32) {
        self.waits_for.set(polls);
    }

    /// Notes so many polls of tasks.
    pub(super) fn waited(&self, polls: u32) {
        self.waits_for.set(self.waits_for.get().saturating_sub(polls));
    }
}

/// The most queues to look at after a turn.
const QUEUES_PER_TURN: usize = 16;

/// Goes round the queues.
#[derive(Default)]
pub(super) struct Round {
    /// The queue to look at next.
    next: Cell<usize>,
}

impl Core {
    /// Has the watchdog look at the queues that are due for it, after a turn that left work. Where queues are many, at some
    /// now and at the others after the next turns.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(&self) {
        let queues = self.queues.slots();
        for _ in 0..queues.min(QUEUES_PER_TURN) {
            let next = self.round.next.get();
            self.round.next.set(if next + 1 < queues { next + 1 } else { 0 });
            if let Some(queue) = self.queues.get_if(next, RunQueue::is_look_due) {
                // This calls a scheduler, which is user code: nothing is borrowed here.
                queue.look_for_lost();
            }
        }
    }
}
