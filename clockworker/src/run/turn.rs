//! One turn on the host's thread: admission, the future being run, slices, until the host must run.

use std::cell::Cell;
use std::task::{Context, Poll, Waker};

use super::Core;
use super::meter::Account;
use super::pick::Current;
use super::queue::RunQueue;
use super::timing::SliceEnd;
use crate::queue::Counter;
use crate::task::{Arrivals, HostWaker, Id};

/// The turn on the host's thread.
pub(super) struct Turns {
    /// Polls that there may be in one.
    poll_cap: u32,
    /// A turn went by without a slice: the next begins with one.
    owes_slice: Cell<bool>,
    /// The number of the turn, modulo 256.
    number: Cell<u8>,
    /// The same, while all that arrives comes from the host's visit before it: nothing has been polled yet.
    visited: Cell<Option<u8>>,
    /// The task of another executor that this turn is taken in.
    outer_task: Cell<Option<Id>>,
    pub(super) host_polls: Counter,
    pub(super) host_yields: Counter,
}

impl Turns {
    pub(super) fn new(poll_cap: u32) -> Self {
        Self {
            poll_cap,
            owes_slice: Cell::new(false),
            number: Cell::new(0),
            visited: Cell::new(None),
            outer_task: Cell::new(None),
            host_polls: Counter::default(),
            host_yields: Counter::default(),
        }
    }

    /// The number of the turn, while all that arrives comes from the host's visit before it.
    #[inline]
    pub(super) fn visited(&self) -> Option<u8> {
        self.visited.get()
    }
}

/// One turn on the host's thread: until `poll_main` is ready, nothing is left to do, or the host must run.
///
/// `poll_main` polls the future being run, if it was woken. It is asked often.
pub(crate) fn turn<T>(core: &Core, host: &HostWaker, mut poll_main: impl FnMut() -> Poll<T>) -> Poll<T> {
    let _turn = Turn::begin(core);
    // The last turn went by in admission: now it is the tasks' turn.
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
                    return Poll::Pending;
                }
            }
            Next::Fail => return Poll::Pending,
        }
    }
}

/// What comes after a step of a turn.
enum Next {
    /// Another step.
    Step,
    /// There is work left, but the host must run.
    Visit,
    /// There is nothing to do.
    Park,
    /// Tasks are not polled any more: what runs the executor looks at [`Ending`](super::ending::Ending), and panics.
    Fail,
}

impl Core {
    /// Admits what arrived, unless a slice comes first, then gives one queue a slice.
    #[inline(always)] // the loop of `turn`
    fn step(&self, slice_first: &mut bool) -> Next {
        if self.has_arrivals() && !std::mem::take(slice_first) {
            let all = self.admit_between_slices();
            if self.end_if_failed() {
                return Next::Fail;
            }
            if !all && self.is_host_due() {
                self.turn.owes_slice.set(true);
                return Next::Visit;
            }
        }
        match self.run_slice() {
            Some(_) if self.end_if_failed() => Next::Fail,
            Some(SliceEnd::HostBudget | SliceEnd::PollCap) => Next::Visit,
            Some(_) => self.unless_host_is_due(Next::Step),
            None => self.after_no_slice(),
        }
    }

    /// No queue is runnable.
    #[inline(always)] // as `step`
    fn after_no_slice(&self) -> Next {
        if self.has_arrivals() {
            // What was dropped at admission woke a task, or more has come from other threads, and there may be no end of
            // it.
            self.meter.read();
            return self.unless_host_is_due(Next::Step);
        }
        // There is no task to wait for.
        self.main.wait_for(0);
        if !self.main.is_woken() {
            return Next::Park;
        }
        // The future being run woke itself. Where a clock stands still, only the count of polls ends the turn.
        let next = self.unless_host_is_due(Next::Step);
        self.pace.count_one();
        next
    }

    #[inline(always)] // as `step`
    fn unless_host_is_due(&self, next: Next) -> Next {
        if self.is_host_due() { Next::Visit } else { next }
    }
}

/// Polls the future being run, in a turn and between slices.
pub(crate) fn poll_in_turn<T>(
    core: &Core,
    waker: &Waker,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    Id::make_current(core.turn.outer_task.get());
    core.end_visit();
    core.meter.begin(Account::Main);
    let polled = poll(&mut Context::from_waker(waker));
    // It woke itself, to let others run: it is to be their turn, then.
    let yielded = core.main.is_woken();
    core.main.polled(yielded);
    core.meter.end_main(yielded);
    if core.budget.is_spent() {
        // It was cut short, and takes turns with the tasks.
        core.budget.renew(0);
        waker.wake_by_ref();
    }
    polled
}

/// A turn under way.
struct Turn<'a>(&'a Core);

impl<'a> Turn<'a> {
    fn begin(core: &'a Core) -> Self {
        core.begin_turn();
        core.budget.keep();
        // The executor may be run inside a task of another one.
        core.turn.outer_task.set(Id::current());
        Turn(core)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        Id::make_current(self.0.turn.outer_task.get());
        self.0.budget.give_back();
        self.0.end_turn();
    }
}

/// Arranges for the host to be woken. False if something has come meanwhile.
#[inline]
fn park(core: &Core, host: &HostWaker) -> bool {
    let inbox = &core.shared.inbox;
    if !inbox.park(host) {
        return false;
    }
    if core.main.flag.is_woken_by_now() {
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
        self.visits.end(took_ns, || !self.has_arrivals() && !self.main.is_woken());
        let budget_ns = self.visits.begin_turn(now);
        self.admission.end_at(now.saturating_add(budget_ns / 2));
        self.pace.begin_turn(self.turn.poll_cap);
        self.turn.number.set(self.turn.number.get().wrapping_add(1));
        self.turn.visited.set(Some(self.turn.number.get()));
    }

    /// Whether the last turn ended with work left, and has woken its host.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_visiting(&self) -> bool {
        self.visits.are_under_way()
    }

    /// Renews the host's cooperative budget, which a poll of the queue has spent. If that cannot be, it was the last before the
    /// host runs. True if others had spent some of it before that poll, and now there is all of it.
    pub(crate) fn renew_budget(&self, queue: &RunQueue) -> bool {
        let polls = queue.counters.polls.get();
        let by_others = !self.budget.was_whole(polls);
        // For the same task once more, or for the one after it.
        self.budget.renew(if by_others { polls } else { polls + 1 });
        let renewed = !self.budget.is_spent();
        if !renewed {
            self.visits.call_off();
            self.shared.arrivals().into_iter().for_each(Arrivals::look);
        }
        by_others && renewed
    }

    /// The number of the turn, modulo 256.
    #[inline]
    pub(crate) fn turn(&self) -> u8 {
        self.turn.number.get()
    }

    /// Something is about to be polled: what arrives from now on does not come from the host's visit.
    pub(crate) fn end_visit(&self) {
        self.turn.visited.set(None);
    }

    /// Ends it: from now on the host pays.
    pub(crate) fn end_turn(&self) {
        self.meter.begin(Account::Host);
    }

    /// Whether the task that is being polled should yield: its slice or the host's patience is over, or something came
    /// that may be to be served first. Looks, but does not admit: no other task's future is dropped inside a poll.
    pub(crate) fn should_yield(&self) -> bool {
        let current = self.slice.current.get();
        if current == Current::NONE {
            return false;
        }
        if self.is_preempted() || self.main.is_woken() || self.has_mail() {
            return true;
        }
        let other_queue = |arrivals: &Arrivals| arrivals.any_of_other_queue(current.queue);
        self.shared.arrivals().is_some_and(other_queue)
            || self.time_is_up(self.meter.read(), u32::MAX).is_some()
    }

    /// Goes back to the host although there is work left.
    pub(crate) fn yield_to_host(&self, host: &Waker) {
        self.watch();
        self.turn.host_yields.add(1);
        self.visits.begin();
        host.wake_by_ref();
    }
}
