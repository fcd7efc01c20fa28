//! [`Deadline`]: earliest deadline first.

use core::fmt;
use std::collections::VecDeque;

use super::runnable_fifo::KEPT;
use crate::parts::by_deadline::ByDeadline;
use crate::parts::own_or_group::OwnOrGroup;
use crate::parts::passed_over::PassedOver;
use crate::parts::waiting::Waiting;
use crate::{Attributes, FairTurns, GroupId, Ready, Scheduler, Task, TaskId};

/// What becomes of tasks whose deadline has passed. They are late once the clock that the policy is
/// [told](Scheduler::time_is) reads more than their deadline.
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
/// That costs O(R·log R) of the *R* ready tasks at worst, and O(R) where none moves.
///
/// # Cost
///
/// O(log n) of the ready tasks that have deadlines, in a binary heap; O(1) for the others, and for a task that yields and is
/// still the first. Nothing is allocated once the tables have grown: 32 bytes for each ready task, 16 for each slot or group
/// index up to the highest of which a deadline was said.
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
/// A task that has a deadline is passed over by those of earlier ones, for as long as there are any, as it is meant to be. So
/// no [patience](Scheduler::patience) is promised: what is due in an hour may wait for an hour, however many polls that is.
///
/// With [`FairTurns::NEVER`] the order is strict, and tasks without deadlines starve while others have work.
///
/// ```
/// use clockworker_schedulers::{Attributes, Deadline, GroupId, Ready, Scheduler, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut policy = Deadline::new();
/// policy.group_opened(task(1).group, 77, &Attributes::new().with_deadline_ns(9_000));
/// policy.spawned(task(2), &Attributes::new().with_deadline_ns(5_000));
/// (0..3).for_each(|slot| policy.push(task(slot), Ready::Spawned));
/// let order: Vec<_> = std::iter::from_fn(|| policy.pop()).collect();
/// assert_eq!(order, [task(2).id, task(1).id, task(0).id]);
/// ```
#[derive(Clone)]
pub struct Deadline {
    /// Those that have deadlines, without those in `late`.
    timely: ByDeadline,
    /// Under [`Late::Behind`], those whose deadlines had passed at the last pop.
    late: ByDeadline,
    /// Those that have none, in the order of becoming ready.
    undated: VecDeque<Waiting>,
    deadlines: OwnOrGroup<u64>,
    rule: Late,
    now_ns: u64,
    /// How often a task became ready.
    pushes: u64,
    passed_over: PassedOver,
    /// Whether the last fair turn was for a late task.
    late_had_turn: bool,
}

/// The three lists, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Timely,
    Late,
    Undated,
}

impl Deadline {
    /// Makes an empty one that serves late tasks [in order](Late::InOrder), with a fair turn in 32 pops that pass over
    /// others.
    pub const fn new() -> Self {
        Self {
            timely: ByDeadline::new(),
            late: ByDeadline::new(),
            undated: VecDeque::new(),
            deadlines: OwnOrGroup::new(),
            rule: Late::InOrder,
            now_ns: 0,
            pushes: 0,
            passed_over: PassedOver::new(&FairTurns::DEFAULT),
            late_had_turn: false,
        }
    }

    /// Sets what becomes of late tasks.
    #[must_use]
    pub fn with_late(self, rule: Late) -> Self {
        let mut policy = Self { rule, ..self };
        policy.late.move_all(&mut policy.timely);
        policy
    }

    /// Sets how often a pop that passes over others is a fair turn. With [`FairTurns::NEVER`] the order is strict.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { passed_over: PassedOver::new(&fair_turns), ..self }
    }

    /// The deadline of a task in nanoseconds: its own, or else its group's, if any.
    #[inline]
    pub fn deadline_ns(&self, task: Task) -> Option<u64> {
        self.deadlines.of(task)
    }

    /// Takes out what goes first, or on a fair turn what that is for. Some task is ready.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        let first = self.first_list();
        let list = if fair { self.fair_turn(first) } else { first };
        let waiting = match list {
            List::Timely => self.timely.pop(),
            List::Late => self.late.pop(),
            List::Undated => self.undated.pop_front(),
        };
        waiting.map(|waiting| waiting.task.id)
    }

    /// The list that goes first.
    #[inline]
    fn first_list(&self) -> List {
        match (self.timely.is_empty(), self.late.is_empty()) {
            (false, _) => List::Timely,
            (true, false) => List::Late,
            (true, true) => List::Undated,
        }
    }

    /// The list that a fair turn is for.
    fn fair_turn(&mut self, first: List) -> List {
        let list = match (self.late.is_empty(), self.undated.is_empty()) {
            (true, true) => first,
            (false, true) => List::Late,
            (true, false) => List::Undated,
            (false, false) if self.late_had_turn => List::Undated,
            (false, false) => List::Late,
        };
        self.late_had_turn = list == List::Late;
        if list != first {
            self.passed_over.take_turn();
        }
        list
    }

    /// Whether a pop in order passes over tasks of another list, so that it counts, and is to be a fair turn instead.
    #[inline]
    fn next_is_fair(&mut self) -> bool {
        let (timely, late) = (!self.timely.is_empty(), !self.late.is_empty());
        let passes = (timely || late) && !self.undated.is_empty() || timely && late;
        if !passes {
            self.passed_over.none_is();
        }
        passes && self.passed_over.are()
    }

    /// Puts those that have become late with the late ones.
    #[inline]
    fn set_late_aside(&mut self) {
        if self.rule == Late::Behind {
            self.timely.move_before(self.now_ns, &mut self.late);
        }
    }

    /// Gives a ready task its place: among those without deadlines not at the tail, if it became ready before others there.
    fn place(&mut self, waiting: Waiting) {
        match self.deadlines.of(waiting.task) {
            Some(deadline_ns) => self.timely.push(deadline_ns, waiting),
            None => {
                let place = self.undated.partition_point(|other| other.number < waiting.number);
                self.undated.insert(place, waiting);
            }
        }
    }

    /// Gives the ready tasks that follow their group their places by its new deadline.
    fn place_group(&mut self, group: GroupId) {
        let (deadlines, mut moved) = (&self.deadlines, Vec::new());
        let mut stays = |waiting: &Waiting| {
            let moves = waiting.task.group == group && deadlines.follows_group(waiting.task);
            moved.extend(moves.then_some(*waiting));
            !moves
        };
        self.timely.retain(&mut stays);
        self.late.retain(&mut stays);
        self.undated.retain(&mut stays);
        moved.into_iter().for_each(|waiting| self.place(waiting));
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Deadline {
    const NEEDS_SERVICE: bool = false;
    const WANTS_TIME: bool = true;
    const WANTS_CLOCK: bool = true;

    #[inline]
    fn push(&mut self, task: Task, _why: Ready) {
        self.pushes += 1;
        let waiting = Waiting { number: self.pushes, task };
        match self.deadlines.of(task) {
            Some(deadline_ns) => self.timely.push(deadline_ns, waiting),
            None => self.undated.push_back(waiting),
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        self.set_late_aside();
        let fair = self.next_is_fair();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.set_late_aside();
        let goes_on = self.deadlines.of(task).is_some_and(|deadline_ns| {
            let is_late = self.rule == Late::Behind && deadline_ns < self.now_ns;
            !is_late && self.timely.earliest_ns().is_none_or(|earliest| deadline_ns < earliest)
        });
        if goes_on && self.late.is_empty() && self.undated.is_empty() {
            self.passed_over.none_is();
            return Some(task.id);
        }
        if goes_on && !self.passed_over.are() {
            return Some(task.id);
        }
        self.push(task, Ready::Yielded);
        if goes_on { self.pop_by(true) } else { self.pop() }
    }

    fn group_opened(&mut self, group: GroupId, _key: u64, attributes: &Attributes) {
        self.deadlines.set_group(group, attributes.deadline_ns);
    }

    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        let before = self.deadlines.set_group(group, attributes.deadline_ns);
        if before != attributes.deadline_ns {
            self.place_group(group);
        }
    }

    #[inline]
    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        self.deadlines.set_own(task.id, attributes.deadline_ns);
    }

    #[inline]
    fn time_passed(&mut self, service_ns: u64) {
        self.passed_over.time_passed(service_ns);
    }

    #[inline]
    fn time_is(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    #[inline]
    fn finished(&mut self, task: Task) {
        self.deadlines.set_own(task.id, None);
    }

    fn group_closed(&mut self, group: GroupId) {
        self.deadlines.set_group(group, None);
    }

    fn drained(&mut self) {
        self.timely.shrink_to(KEPT);
        self.late.shrink_to(KEPT);
        if self.undated.capacity() > KEPT {
            self.undated.shrink_to(KEPT);
        }
    }

    /// The next task alone where it has a deadline, as a heap does not know who is second at once.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        let waiting = match self.first_list() {
            List::Timely if ahead == 0 => self.timely.first(),
            List::Late if ahead == 0 => self.late.first(),
            List::Undated => self.undated.get(ahead).copied(),
            _ => None,
        };
        waiting.map(|waiting| waiting.task.id)
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline")
            .field("timely", &self.timely.len())
            .field("late", &self.late.len())
            .field("undated", &self.undated.len())
            .field("rule", &self.rule)
            .field("now_ns", &self.now_ns)
            .field("passed_over", &self.passed_over)
            .field("late_had_turn", &self.late_had_turn)
            .finish_non_exhaustive()
    }
}
