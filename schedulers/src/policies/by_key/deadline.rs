//! [`Deadline`]: earliest deadline first.

use core::fmt;

use super::by_deadline::ByDeadline;
use super::{ByKey, Lists, calls_by_key};
use crate::{Attributes, ClockUse, FairTurns, Gone, Ready, Scheduler, Served, Subject, Task, TaskId};

/// What becomes of tasks whose deadline has passed. They are late once the clock that the policy is
/// [told](Scheduler::served) reads more than their deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Late {
    /// They keep their places: the earliest deadline first, whether it has passed or not. The greatest lateness is then as
    /// small as can be (Jackson, *Scheduling a production line to minimize maximum tardiness*, 1955), which is good where an
    /// answer is worth something a little late.
    ///
    /// Under overload that is the domino effect: the thread is always at what is most overdue, so all tasks are late in the
    /// end, also where most deadlines could have been met.
    #[default]
    InOrder,
    /// They wait behind all whose deadline can still be met, and before those that have none; among themselves, the earliest
    /// deadline first. Good where a late answer is worth little.
    Behind,
}

/// The task of the earliest deadline goes first (EDF); of equal ones, the one that became ready first. Those that have none
/// come behind, in the order of becoming ready.
///
/// A task has the [deadline](Attributes::deadline_ns) of its own attributes, if they have one, or else that of its group, or
/// else none. It keeps it as long as it lives, however often it yields or sleeps.
///
/// On one thread it is optimal: where some order would meet all deadlines, this one does. Liu and Layland, *Scheduling
/// algorithms for multiprogramming in a hard-real-time environment*, JACM 20, 1973, for periodic tasks up to a load of 1;
/// Dertouzos, *Control robotics: the procedural control of physical processes*, IFIP 1974, for any. As polls are not cut
/// short, a task may be held up by the one that is under way when it comes, so each is done less than one poll after its
/// deadline.
///
/// Tasks without deadlines take no time from the others but by fair turns. With a fair turn in *N* pops, and polls of one
/// length, what a thread of (*N* − 1)/*N* of the speed could do in time is done less than two polls after its deadline.
///
/// # Late ones
///
/// [`Late`] says what becomes of them: [`Late::InOrder`] unless set ([`with_late`](Deadline::with_late)).
///
/// # Changes
///
/// When a group is given another deadline, its ready tasks move at once to where they would be if it had always been so.
/// That costs O(n·log n) of the ready tasks that had its deadline before or have it now; where it had none or has none, of those
/// without one.
///
/// # Cost
///
/// O(log n) of the ready tasks that have deadlines, in a B-tree; O(1) where none has one. A task that yields and is still the
/// first is not moved. However many become late at once, nothing moves.
///
/// A ready task that has a deadline takes 34 to 77 bytes; 64 where deadlines rise. The nodes of the tree, of eleven tasks at most,
/// are allocated and freed as such tasks come and go. While there are no more than eleven that is none; where there are
/// many, about one for six that come; at worst, as where there are twelve and eleven by turns, one for each. Nothing else is
/// allocated once the tables have grown: 24 bytes for each ready task without a deadline, 16 for each slot or group index up to
/// the highest of which a deadline was said. What a burst took of that is given back when the queue has drained.
///
/// # Starvation
///
/// Pops that pass over late tasks in favour of timely ones, or over tasks without deadlines in favour of those that have one,
/// are counted, and the *N*th in a row ([`FairTurns`]; *N* is 32 unless set, and at least 2) is a *fair turn*: it goes to the
/// first of the tasks without deadlines; under [`Late::Behind`] to the first of these and to the first of the late ones by
/// turns. Fair turns are paid for by time as those of [`Priority`](crate::Priority#starvation) are.
///
/// A ready task without a deadline is popped within *N*·(*p* + 1) pops where turns take no longer than other polls, and
/// within 1,024·*N*·(*p* + 1) whatever they take, where *p* such tasks became ready before it; twice that under
/// [`Late::Behind`]. For where only such tasks wait, each pop takes the first of them, and where others wait as well, a fair
/// turn does, in each so many pops. (A task that became ready before it, and whose group lost its deadline since, counts too.)
///
/// A task that has a deadline is passed over by those of earlier ones, for as long as there are any, as it is meant to be:
/// what is due in an hour may wait for an hour, however many polls that is.
///
/// With [`FairTurns::NEVER`] the order is strict, and tasks without deadlines starve while others have work.
///
/// ```
/// use clockworker_schedulers::{Attributes, Deadline, GroupId, Ready, Scheduler, Subject, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut policy = Deadline::new();
/// policy.said(Subject::NewGroup { group: task(1).group, key: 77 }, &Attributes::new().with_deadline_ns(9_000));
/// policy.said(Subject::Task(task(2)), &Attributes::new().with_deadline_ns(5_000));
/// (0..3).for_each(|slot| policy.push(task(slot), Ready::Spawned));
/// let order: Vec<_> = std::iter::from_fn(|| policy.pop()).collect();
/// assert_eq!(order, [task(2).id, task(1).id, task(0).id]);
/// ```
#[derive(Clone)]
pub struct Deadline {
    by_key: ByKey<ByDeadline>,
}

impl Deadline {
    /// Makes an empty one that serves late tasks [in order](Late::InOrder), with a fair turn in 32 pops that pass over
    /// others.
    pub const fn new() -> Self {
        Self { by_key: ByKey::new(ByDeadline::new()) }
    }

    /// Sets what becomes of late tasks.
    #[must_use]
    pub fn with_late(mut self, rule: Late) -> Self {
        self.by_key.ready.rule = rule;
        self
    }

    /// Sets how often a pop that passes over others is a fair turn. With [`FairTurns::NEVER`] the order is strict.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { by_key: self.by_key.with_fair_turns(&fair_turns) }
    }

    /// The deadline of a task in nanoseconds: its own, or else its group's, if any.
    #[inline]
    pub fn deadline_ns(&self, task: Task) -> Option<u64> {
        self.by_key.keys.of(task)
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Deadline {
    const CLOCK: ClockUse = ClockUse::WhenRead;

    calls_by_key!(deadline_ns);

    #[inline]
    fn served(&mut self, served: Served, now_ns: u64) {
        self.by_key.served(served);
        let ready = &mut self.by_key.ready;
        ready.now_ns = ready.now_ns.max(now_ns);
    }

    /// The next task alone where it has a deadline, as the way to the others is not cheap.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.by_key.ready.peek(ahead)
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ready = &self.by_key.ready;
        f.debug_struct("Deadline")
            .field("dated", &ready.dated.len())
            .field("undated", &ready.undated.len())
            .field("rule", &ready.rule)
            .field("now_ns", &ready.now_ns)
            .field("passed_over", &self.by_key.passed_over)
            .field("late_had_turn", &ready.late_had_turn)
            .finish_non_exhaustive()
    }
}
