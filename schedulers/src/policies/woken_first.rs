//! [`WokenFirst`]: tasks that something happened for, before tasks that merely gave way.
//!
//! Why those that yielded wait no longer than its docs say. Polls take S at most. Let A be what the woken tasks have
//! received, while some waited that had yielded, beyond two thirds of what these received. If A is 1 ms or more, or 31 pops
//! in a row were of woken tasks, the next pop is of a task that yielded, unless the first woken task was woken before it. So
//! A is at most 1 ms + S. What the woken ones receive before the Yth of the others is polled is at most that and two thirds
//! of what the Y − 1 before it take.

use core::fmt;

use crate::parts::KEPT;
use crate::parts::ring::Ring;
use crate::{ClockUse, Gone, Ready, Scheduler, Served, Task, TaskId};

/// By so much the others may be ahead. Nanoseconds.
const MOST_AHEAD_NS: u64 = 1_000_000;

/// And so many pops in a row.
const MOST_PASSED: u32 = 31;

/// Woken and new tasks first, tasks that [yielded](Ready::Yielded), also by the host's
/// own [means](Ready::Deferred), behind them; in each of the two, first ready, first
/// polled. The default.
///
/// A task that yields says that others may go first. One that was woken has something to do now: a request has come, a
/// timer has fired. So a connection does not wait for every task that computes in pieces, but for the piece under way.
///
/// The first yield since a task was woken or spawned counts as a wake. hyper's connections yield so when they have answered several
/// requests in a row: behind all that are woken, each would wait for a millisecond while others are served. A task that computes in
/// pieces yields again, and then counts as one that yielded until it is woken.
///
/// A woken task never waits for one that became ready after it. So it is popped after no more pops than by
/// [`RunnableFifo`](crate::RunnableFifo). Those that yielded are passed over for 31 pops in a row at most, and while the others are
/// ahead of two thirds of what they receive by no more than a millisecond. After that one of them is popped, if it yielded before the first
/// woken one was woken. So woken tasks that keep the thread busy for two fifths of the time go first. Where they would keep it
/// busy all the time, they leave three fifths of it, or what the others would have by [`RunnableFifo`](crate::RunnableFifo) if that is
/// less; or one poll in 32, if theirs are short.
///
/// With *Y* tasks that yielded, each waits for those that were woken before it, and besides for 32·*Y* pops at most, and for a millisecond
/// and 5/3·*Y* + 1 polls at most.
///
/// Apart from that it pays no regard to how long polls take. It costs as much as [`RunnableFifo`](crate::RunnableFifo), which is
/// this order without the distinction, and reads no clock.
///
/// ```
/// use clockworker_schedulers::{GroupId, Ready, Scheduler, Task, TaskId, WokenFirst};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut policy = WokenFirst::new();
/// policy.push(task(0), Ready::Yielded);
/// policy.push(task(1), Ready::Yielded);
/// policy.push(task(2), Ready::Woken);
/// let order: Vec<_> = std::iter::from_fn(|| policy.pop()).collect();
/// assert_eq!(order, [task(2).id, task(0).id, task(1).id]);
/// ```
#[derive(Clone, Default)]
pub struct WokenFirst {
    /// Woken and new, and those that yielded once since.
    woken: Ring<Woken>,
    yielded: Ring<TaskId>,
    /// The task popped last. What is pushed as yielded is that task.
    last: Last,
    /// How many pops in a row have passed over those that yielded.
    passed: u32,
    /// What the others have received more than two thirds of what those that yielded have, while these waited. Nanoseconds.
    ahead_ns: u64,
    /// Tasks that yielded and were popped while woken ones waited.
    turns: u64,
}

/// Whether a task was woken, or has yielded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// It was woken or spawned.
    Woken,
    /// It yielded once since.
    YieldedOnce,
    /// It yielded again: its service is not the others'.
    #[default]
    YieldedAgain,
}

/// In as much memory as [`KEPT`] of those that yielded.
const KEPT_WOKEN: usize = KEPT / 2;

/// Two words, which are stored one by one: a third field would be put together on the stack and copied, and the copy would wait for
/// the parts.
#[derive(Clone, Copy, Debug)]
struct Woken {
    id: TaskId,
    /// [`turns_before`](Woken::turns_before), and below it [`has_yielded`](Woken::has_yielded).
    word: u64,
}

impl Woken {
    #[inline]
    fn new(id: TaskId, turns_before: u64, has_yielded: bool) -> Self {
        Self { id, word: turns_before << 1 | u64::from(has_yielded) }
    }

    /// What [`turns`](WokenFirst::turns) is once all are popped that yielded before this task was woken.
    #[inline]
    fn turns_before(self) -> u64 {
        self.word >> 1
    }

    /// Whether it yielded since it was woken or spawned.
    #[inline]
    fn has_yielded(self) -> bool {
        self.word & 1 == 1
    }
}

impl WokenFirst {
    /// Makes an empty one.
    pub const fn new() -> Self {
        Self {
            woken: Ring::new(),
            yielded: Ring::new(),
            last: Last::YieldedAgain,
            passed: 0,
            ahead_ns: 0,
            turns: 0,
        }
    }

    /// Whether one of those that yielded has been passed over for long enough, and yielded before the first woken one was woken.
    fn is_turn(&self, first: Woken) -> bool {
        (self.passed >= MOST_PASSED || self.ahead_ns >= MOST_AHEAD_NS) && first.turns_before() != self.turns
    }

    /// Pops one of those that yielded.
    #[inline(always)]
    fn take_turn(&mut self) -> Option<TaskId> {
        (self.passed, self.last) = (0, Last::YieldedAgain);
        self.yielded.pop_front()
    }
}

impl Scheduler for WokenFirst {
    const CLOCK: ClockUse = ClockUse::WhenRead;

    #[inline(always)] // a call takes 20 instructions
    fn push(&mut self, task: Task, why: Ready) {
        let has_yielded = why == Ready::Yielded;
        let counts_as_woken = match why {
            Ready::Spawned | Ready::Woken => true,
            Ready::Yielded => self.last == Last::Woken,
            Ready::Deferred => false,
        };
        if counts_as_woken {
            let turns_before = self.turns + self.yielded.len() as u64;
            self.woken.push_back(Woken::new(task.id, turns_before, has_yielded));
        } else {
            if self.yielded.is_empty() {
                self.passed = 0;
            }
            self.yielded.push_back(task.id);
        }
    }

    #[inline(always)] // as `push`
    fn pop(&mut self) -> Option<TaskId> {
        let Some(first) = self.woken.get(0) else { return self.take_turn() };
        if !self.yielded.is_empty() {
            if self.is_turn(first) {
                self.turns += 1;
                return self.take_turn();
            }
            self.passed = self.passed.saturating_add(1);
        }
        self.woken.pop_front();
        self.last = if first.has_yielded() { Last::YieldedOnce } else { Last::Woken };
        Some(first.id)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        if self.last == Last::Woken || !self.woken.is_empty() {
            self.push(task, Ready::Yielded);
            return self.pop();
        }
        (self.passed, self.last) = (0, Last::YieldedAgain);
        Some(self.yielded.push_pop(task.id))
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        if self.woken.is_empty() {
            self.yielded.get(ahead)
        } else {
            self.woken.get(ahead).map(|woken| woken.id)
        }
    }

    #[inline(always)] // at the beginning of a slice it is nothing
    fn served(&mut self, served: Served, _now_ns: u64) {
        let Served::Queue { ns: ns @ 1.. } = served else { return };
        if self.last == Last::YieldedAgain {
            self.ahead_ns = self.ahead_ns.saturating_sub(ns - ns.div_ceil(3));
        } else if !self.yielded.is_empty() {
            self.ahead_ns = self.ahead_ns.min(MOST_AHEAD_NS).saturating_add(ns);
        }
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        if gone != Gone::Backlog {
            return;
        }
        self.ahead_ns = 0;
        if self.woken.capacity().max(self.yielded.capacity()) > KEPT_WOKEN {
            self.woken.shrink_to(KEPT_WOKEN);
            self.yielded.shrink_to(KEPT);
        }
    }
}

impl fmt::Debug for WokenFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WokenFirst")
            .field("woken", &self.woken.len())
            .field("yielded", &self.yielded.len())
            .field("passed", &self.passed)
            .field("ahead_ns", &self.ahead_ns)
            .finish_non_exhaustive()
    }
}
