//! [`WokenFirst`]: tasks that something happened for, before tasks that merely gave way.

use core::fmt;

use super::runnable_fifo::KEPT;
use crate::parts::fair_turns::patience;
use crate::parts::ring::Ring;
use crate::{Ready, Scheduler, Task, TaskId};

/// After so much service of the others the next pop is of a task that yielded, while one waits. Nanoseconds.
const PATIENCE_NS: u64 = 1_000_000;

/// Each pop counts for so much besides its service, so that of 32 pops one at least is of a task that yielded.
const PER_POP_NS: u64 = PATIENCE_NS.div_ceil(31);

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
/// [`RunnableFifo`](crate::RunnableFifo). Those that yielded before it are passed over for 31 pops at most, and for a millisecond of the
/// others' service and one poll at most, whatever comes first: then one of them is popped. (Each pop counts as 1/31 ms, and its service
/// besides.) So with *Y* of them, each waits for the tasks that were woken before it, and besides for 32·*Y* pops at most, and for *Y*
/// milliseconds and 2·*Y* polls. A flood of woken tasks with polls of 1 ms leaves them every other poll, one with polls of a few
/// microseconds every 32nd.
///
/// It pays no regard to how long a task's own polls take. It costs as much as [`RunnableFifo`](crate::RunnableFifo), which is
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
    /// Whether the task popped last has not yielded since it was woken or spawned. What is pushed as yielded is that task.
    may_yield: bool,
    /// For how long those that yielded were passed over, since one was polled or the first came. Nanoseconds. `None` until the poll of the
    /// one that was popped last is over: its time is not the others'.
    passed_over_ns: Option<u64>,
    /// Tasks that yielded and were popped while woken ones waited.
    turns: u64,
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
        Self { woken: Ring::new(), yielded: Ring::new(), may_yield: false, passed_over_ns: None, turns: 0 }
    }

    /// Whether one of those that yielded has been passed over for long enough, and yielded before the first woken one was woken.
    fn is_turn(&self, first: Woken) -> bool {
        self.passed_over_ns >= Some(PATIENCE_NS) && first.turns_before() != self.turns
    }
}

impl Scheduler for WokenFirst {
    const NEEDS_SERVICE: bool = false;
    const WANTS_TIME: bool = true;

    #[inline(always)] // a call takes 20 instructions
    fn push(&mut self, task: Task, why: Ready) {
        let has_yielded = why == Ready::Yielded;
        let counts_as_woken = match why {
            Ready::Spawned | Ready::Woken => true,
            Ready::Yielded => self.may_yield,
            Ready::Deferred => false,
        };
        if counts_as_woken {
            let turns_before = self.turns + self.yielded.len() as u64;
            self.woken.push_back(Woken::new(task.id, turns_before, has_yielded));
        } else {
            if self.yielded.is_empty() {
                self.passed_over_ns = Some(0);
            }
            self.yielded.push_back(task.id);
        }
    }

    #[inline(always)] // as `push`
    fn pop(&mut self) -> Option<TaskId> {
        let Some(first) = self.woken.get(0) else {
            self.passed_over_ns = None;
            self.may_yield = false;
            return self.yielded.pop_front();
        };
        if !self.yielded.is_empty() {
            if self.is_turn(first) {
                self.turns += 1;
                self.passed_over_ns = None;
                self.may_yield = false;
                return self.yielded.pop_front();
            }
            self.passed_over_ns =
                Some(self.passed_over_ns.map_or(PER_POP_NS, |ns| ns.saturating_add(PER_POP_NS)));
        }
        self.woken.pop_front();
        self.may_yield = !first.has_yielded();
        Some(first.id)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        if self.may_yield || !self.woken.is_empty() {
            self.push(task, Ready::Yielded);
            return self.pop();
        }
        if !self.yielded.is_empty() {
            self.passed_over_ns = None;
        }
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

    fn patience(&self, tasks: usize) -> Option<u64> {
        Some(patience((tasks as u64).saturating_mul(32)))
    }

    fn drained(&mut self) {
        if self.woken.capacity().max(self.yielded.capacity()) > KEPT_WOKEN {
            self.woken.shrink_to(KEPT_WOKEN);
            self.yielded.shrink_to(KEPT);
        }
    }

    #[inline]
    fn time_passed(&mut self, service_ns: u64) {
        self.passed_over_ns = Some(self.passed_over_ns.map_or(0, |ns| ns.saturating_add(service_ns)));
    }
}

impl fmt::Debug for WokenFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WokenFirst")
            .field("woken", &self.woken.len())
            .field("yielded", &self.yielded.len())
            .field("passed_over_ns", &self.passed_over_ns)
            .finish_non_exhaustive()
    }
}
