//! Ready tasks by deadline: the timely ones, the late ones, and those that have none.

use super::by_key::Lists;
use super::ready_list::{ReadyList, ReadyTask};
use super::trie::Trie;
use crate::{Late, Task, TaskId};

/// The three lists, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Timely,
    Late,
    Undated,
}

/// Ready tasks, the earliest deadline first, with late ones behind if that is the rule, and those without deadlines last.
/// Changes are O(log n), and time that goes by moves nothing.
#[derive(Clone, Debug)]
pub(crate) struct ByDeadline {
    /// Those that have deadlines, timely and late.
    dated: Trie,
    /// The leaf of the earliest deadline.
    earliest: Option<u32>,
    /// The leaf of the earliest deadline that is timely. None is late unless this is another.
    timely: Option<u32>,
    /// Those that have no deadline.
    undated: ReadyList,
    pub(crate) rule: Late,
    /// What the clock read last.
    pub(crate) now_ns: u64,
    /// Whether the last fair turn was for a late task.
    pub(crate) late_had_turn: bool,
}

impl ByDeadline {
    /// Of no tasks. Late ones are served in order.
    pub(crate) const fn new() -> Self {
        Self {
            dated: Trie::new(),
            earliest: None,
            timely: None,
            undated: ReadyList::new(),
            rule: Late::InOrder,
            now_ns: 0,
            late_had_turn: false,
        }
    }

    /// Sets what becomes of late ones.
    pub(crate) fn set_rule(&mut self, rule: Late) {
        self.rule = rule;
        self.find_timely();
    }

    /// The clock reads so much, or more.
    #[inline]
    pub(crate) fn time_is(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        if self.timely.is_some_and(|timely| self.is_late(self.dated.key(timely)[0])) {
            self.find_timely();
        }
    }

    /// How many tasks are timely, late and without a deadline. O(n·log n) of the late ones.
    pub(crate) fn lens(&self) -> [usize; 3] {
        let from_earliest = core::iter::successors(self.earliest, |&leaf| self.dated.next(leaf));
        let late = from_earliest.take_while(|&leaf| self.timely != Some(leaf)).count();
        [self.dated.len() - late, late, self.undated.len()]
    }

    /// Whether a task of this deadline waits behind, as it is late.
    #[inline]
    fn is_late(&self, deadline_ns: u64) -> bool {
        self.rule == Late::Behind && deadline_ns < self.now_ns
    }

    /// Whether there are tasks that wait behind, as they are late.
    #[inline]
    fn any_late(&self) -> bool {
        self.earliest != self.timely
    }

    /// Finds the first timely one, where the earliest of all is known.
    fn find_timely(&mut self) {
        self.timely = match self.earliest {
            Some(earliest) if self.is_late(self.dated.key(earliest)[0]) => self.dated.first_from(self.now_ns),
            earliest => earliest,
        };
    }

    fn insert(&mut self, deadline_ns: u64, ready: ReadyTask) {
        let leaf = self.dated.insert(deadline_ns, ready);
        let goes_before = |other: u32| self.dated.key(leaf) < self.dated.key(other);
        if self.earliest.is_none_or(goes_before) {
            self.earliest = Some(leaf);
        }
        if !self.is_late(deadline_ns) && self.timely.is_none_or(goes_before) {
            self.timely = Some(leaf);
        }
    }

    fn remove(&mut self, leaf: u32) -> ReadyTask {
        let (ready, next) = self.dated.remove(leaf);
        for first in [&mut self.earliest, &mut self.timely] {
            *first = if *first == Some(leaf) { next } else { *first };
        }
        ready
    }

    /// Takes out those of a deadline for which `moves` says so. O(log n) for each of that deadline.
    fn take_those(&mut self, deadline_ns: u64, moves: impl Fn(Task) -> bool) -> Vec<ReadyTask> {
        let first = self.dated.first_from(deadline_ns);
        let leaves = core::iter::successors(first, |&leaf| self.dated.next(leaf));
        let leaves = leaves.take_while(|&leaf| self.dated.key(leaf)[0] == deadline_ns);
        let moved: Vec<_> = leaves.filter(|&leaf| moves(self.dated.task(leaf).task)).collect();
        moved.into_iter().map(|leaf| self.remove(leaf)).collect()
    }
}

impl Lists for ByDeadline {
    type Key = u64;
    type List = List;

    #[inline]
    fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    #[inline]
    fn first(&self) -> Option<List> {
        match (self.timely, self.earliest) {
            (Some(_), _) => Some(List::Timely),
            (None, Some(_)) => Some(List::Late),
            (None, None) => (!self.undated.is_empty()).then_some(List::Undated),
        }
    }

    #[inline]
    fn any_besides(&self, list: List) -> bool {
        let dated = match list {
            List::Timely => self.any_late(),
            List::Late => self.timely.is_some(),
            List::Undated => return self.earliest.is_some(),
        };
        dated || !self.undated.is_empty()
    }

    #[inline]
    fn list_ahead(&self, deadline_ns: Option<u64>) -> Option<List> {
        let deadline_ns = deadline_ns.filter(|&deadline_ns| !self.is_late(deadline_ns))?;
        let is_ahead = self.timely.is_none_or(|timely| deadline_ns < self.dated.key(timely)[0]);
        is_ahead.then_some(List::Timely)
    }

    fn fair_turn(&mut self, first: List) -> List {
        let list = match (self.any_late(), !self.undated.is_empty()) {
            (false, false) => first,
            (true, false) => List::Late,
            (false, true) => List::Undated,
            (true, true) if self.late_had_turn => List::Undated,
            (true, true) => List::Late,
        };
        self.late_had_turn = list == List::Late;
        list
    }

    #[inline]
    fn only_list(&mut self, deadline_ns: Option<u64>) -> Option<&mut ReadyList> {
        (deadline_ns.is_none() && self.earliest.is_none()).then_some(&mut self.undated)
    }

    #[inline]
    fn push(&mut self, deadline_ns: Option<u64>, ready: ReadyTask) {
        match deadline_ns {
            Some(deadline_ns) => self.insert(deadline_ns, ready),
            None => self.undated.push_back(ready),
        }
    }

    #[inline]
    fn pop(&mut self, list: List) -> Option<TaskId> {
        let ready = match list {
            List::Timely => self.timely.map(|timely| self.remove(timely)),
            List::Late => self.earliest.map(|earliest| self.remove(earliest)),
            List::Undated => self.undated.pop_front(),
        };
        ready.map(|ready| ready.task.id)
    }

    /// The next task alone where it has a deadline: a search for each of the others is not cheap.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        let ready = match self.timely.or(self.earliest) {
            Some(first) => (ahead == 0).then(|| self.dated.task(first)),
            None => self.undated.get(ahead),
        };
        ready.map(|ready| ready.task.id)
    }

    fn change(&mut self, from: Option<u64>, to: Option<u64>, moves: impl Fn(Task) -> bool) {
        let moved = match from {
            Some(deadline_ns) => self.take_those(deadline_ns, moves),
            None => self.undated.take_those(moves),
        };
        match to {
            Some(deadline_ns) => moved.into_iter().for_each(|ready| self.insert(deadline_ns, ready)),
            None => self.undated.merge(moved),
        }
    }

    fn shrink_to(&mut self, kept: usize) {
        self.dated.shrink_to(kept);
        self.undated.shrink_to(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupId;
    use crate::parts::by_key::ByKey;

    fn task(slot: u32) -> Task {
        Task { id: TaskId::new(slot, 0), group: GroupId::new(slot % 2) }
    }

    /// The most nodes that a pop and a push pass, and a clock that moves on: seven ways down from the root at most.
    const MOST_STEPS: u64 = 7 * 129;

    /// All of one deadline, and each with one of its own: a poll costs no more at the moment when they are late than before.
    #[test]
    fn that_100_000_become_late_at_once_moves_nothing() {
        for apart_ns in [0, 1_000] {
            let mut tasks = ByKey::new(ByDeadline::new());
            tasks.ready.set_rule(Late::Behind);
            for slot in 0..100_000 {
                tasks.keys.set_own(task(slot).id, Some(7 + apart_ns * u64::from(slot)));
                tasks.push(task(slot));
            }
            tasks.keys.set_own(task(100_000).id, Some(u64::MAX));
            tasks.push(task(100_000));
            let now_ns = [3, 4, 1 << 40, 1 << 41, 1 << 41];
            let order = now_ns.map(|now_ns| {
                tasks.ready.dated.steps.set(0);
                tasks.ready.time_is(now_ns);
                let id = tasks.pop().unwrap();
                tasks.push(task(id.slot() as u32));
                let steps = tasks.ready.dated.steps.get();
                assert!(steps <= MOST_STEPS, "{steps} steps at {now_ns} ns");
                id.slot()
            });
            let second = if apart_ns == 0 { 1 } else { 0 }; // behind those of the same deadline
            assert_eq!(order, [0, second, 100_000, 100_000, 100_000]);
            assert_eq!(tasks.ready.lens(), [1, 100_000, 0]);
        }
    }

    #[test]
    fn memory_of_a_crowd_is_given_back() {
        let mut tasks = ByDeadline::new();
        let memory = |tasks: &ByDeadline| tasks.dated.capacity() + tasks.undated.capacity();
        for number in 1..=10_000 {
            let deadline_ns = (number % 2 == 0).then_some(number);
            tasks.push(deadline_ns, ReadyTask { number, task: task(number as u32) });
        }
        while let Some(list) = tasks.first() {
            tasks.pop(list);
        }
        assert!(memory(&tasks) >= 10_000);
        tasks.shrink_to(1_024);
        assert!(memory(&tasks) <= 2 * 1_024);
        tasks.push(Some(3), ReadyTask { number: 1, task: task(5) });
        assert_eq!(tasks.pop(List::Timely), Some(task(5).id));
    }
}
