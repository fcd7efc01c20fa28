//! Ready tasks by deadline: the timely ones, the late ones, and those that have none.

use std::collections::BTreeMap;

use super::Lists;
use super::ready_list::{ReadyList, ReadyTask};
use crate::{Late, Task, TaskId};

/// The three lists, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Timely,
    Late,
    Undated,
}

impl List {
    const ALL: [Self; 3] = [Self::Timely, Self::Late, Self::Undated];
}

/// Ready tasks, the earliest deadline first, with late ones behind if that is the rule, and those without deadlines last.
/// Changes are O(log n), and time that goes by moves nothing.
#[derive(Clone, Debug)]
pub(super) struct ByDeadline {
    /// Those that have deadlines, by these and their numbers: the late ones, then the timely ones.
    pub(super) dated: BTreeMap<(u64, u64), Task>,
    /// Those that have no deadline.
    pub(super) undated: ReadyList,
    pub(super) rule: Late,
    /// What the clock read last.
    pub(super) now_ns: u64,
    /// Whether the last fair turn was for a late task.
    pub(super) late_had_turn: bool,
}

impl ByDeadline {
    /// Of no tasks. Late ones are served in order.
    pub(super) const fn new() -> Self {
        Self {
            dated: BTreeMap::new(),
            undated: ReadyList::new(),
            rule: Late::InOrder,
            now_ns: 0,
            late_had_turn: false,
        }
    }

    /// Whether a task of this deadline waits behind, as it is late.
    #[inline]
    fn is_late(&self, deadline_ns: u64) -> bool {
        self.rule == Late::Behind && deadline_ns < self.now_ns
    }

    /// Whether a list has tasks.
    #[inline]
    fn has(&self, list: List) -> bool {
        match list {
            List::Timely => self.dated.last_key_value().is_some_and(|(key, _)| !self.is_late(key.0)),
            List::Late if self.rule == Late::InOrder => false,
            List::Late => self.dated.first_key_value().is_some_and(|(key, _)| self.is_late(key.0)),
            List::Undated => !self.undated.is_empty(),
        }
    }

    /// The first of the timely ones, if any, or of the late ones where some are late.
    #[inline]
    fn first_of(&self, list: List) -> Option<(&(u64, u64), &Task)> {
        if list == List::Timely && self.has(List::Late) {
            self.dated.range((self.now_ns, 0)..).next()
        } else {
            self.dated.first_key_value()
        }
    }
}

impl Lists for ByDeadline {
    type Key = u64;
    type List = List;

    #[inline]
    fn is_empty(&self) -> bool {
        self.dated.is_empty() && self.undated.is_empty()
    }

    #[inline]
    fn first(&self) -> Option<List> {
        List::ALL.into_iter().find(|list| self.has(*list))
    }

    #[inline]
    fn any_besides(&self, list: List) -> bool {
        List::ALL.into_iter().any(|other| other != list && self.has(other))
    }

    #[inline]
    fn list_ahead(&self, deadline_ns: Option<u64>) -> Option<List> {
        let deadline_ns = deadline_ns.filter(|&deadline_ns| !self.is_late(deadline_ns))?;
        let is_ahead = self.first_of(List::Timely).is_none_or(|(first, _)| deadline_ns < first.0);
        is_ahead.then_some(List::Timely)
    }

    fn fair_turn(&mut self, first: List) -> List {
        let mut others = [List::Late, List::Undated];
        others.rotate_left(self.late_had_turn.into());
        let list = others.into_iter().find(|list| self.has(*list)).unwrap_or(first);
        self.late_had_turn = list == List::Late;
        list
    }

    #[inline]
    fn only_list(&mut self, deadline_ns: Option<u64>) -> Option<&mut ReadyList> {
        (deadline_ns.is_none() && self.dated.is_empty()).then_some(&mut self.undated)
    }

    #[inline]
    fn push(&mut self, deadline_ns: Option<u64>, ready: ReadyTask) {
        match deadline_ns {
            Some(deadline_ns) => _ = self.dated.insert((deadline_ns, ready.number), ready.task),
            None => self.undated.push_back(ready),
        }
    }

    #[inline]
    fn pop(&mut self, list: List) -> Option<TaskId> {
        let task = match list {
            List::Undated => self.undated.pop_front()?.task,
            List::Timely if self.has(List::Late) => {
                let key = *self.first_of(list)?.0;
                self.dated.remove(&key)?
            }
            List::Timely | List::Late => self.dated.pop_first()?.1,
        };
        Some(task.id)
    }

    /// The next task alone where it has a deadline: the way to the others is not cheap.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        match self.first()? {
            List::Undated => Some(self.undated.get(ahead)?.task.id),
            list => self.first_of(list).filter(|_| ahead == 0).map(|(_, task)| task.id),
        }
    }

    fn change(&mut self, from: Option<u64>, to: Option<u64>, moves: impl Fn(Task) -> bool) {
        let moved = match from {
            Some(deadline_ns) => {
                let alike = self.dated.range((deadline_ns, 0)..=(deadline_ns, u64::MAX));
                let those = alike.filter(|(_, task)| moves(**task));
                let moved: Vec<_> = those.map(|(key, &task)| ReadyTask { number: key.1, task }).collect();
                moved.iter().for_each(|ready| _ = self.dated.remove(&(deadline_ns, ready.number)));
                moved
            }
            None => self.undated.take_those(moves),
        };
        match to {
            Some(_) => moved.into_iter().for_each(|ready| self.push(to, ready)),
            None => self.undated.merge(moved),
        }
    }

    fn shrink_to(&mut self, kept: usize) {
        self.undated.shrink_to(kept); // a map keeps nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupId;
    use crate::random::Random;

    fn task(number: u64) -> Task {
        Task { id: TaskId::new(number as u32, 0), group: GroupId::new(number as u32 % 2) }
    }

    /// The list of a task, its deadline and its number: the order.
    type Place = (u8, Option<u64>, u64);

    fn place(tasks: &ByDeadline, deadline_ns: Option<u64>, number: u64) -> Place {
        let is_late = |ns| tasks.rule == Late::Behind && ns < tasks.now_ns;
        (deadline_ns.map_or(2, |ns| is_late(ns).into()), deadline_ns, number)
    }

    fn list(place: &Place) -> List {
        List::ALL[usize::from(place.0)]
    }

    fn check(tasks: &mut ByDeadline, places: &[Place], of_new: Place) {
        let first = places.first().map(list);
        assert_eq!((tasks.first(), tasks.is_empty()), (first, places.is_empty()));
        assert_eq!(tasks.peek(0), places.first().map(|(.., number)| task(*number).id));
        for list_of in List::ALL {
            assert_eq!(tasks.any_besides(list_of), places.iter().any(|place| list(place) != list_of));
        }
        let is_ahead = list(&of_new) == List::Timely && places.iter().all(|place| of_new < *place);
        assert_eq!(tasks.list_ahead(of_new.1), is_ahead.then_some(List::Timely));
        let only = of_new.1.is_none() && places.iter().all(|place| list(place) == List::Undated);
        assert_eq!(tasks.only_list(of_new.1).is_some(), only);
    }

    #[test]
    fn agrees_with_a_sorted_list() {
        let mut random = Random::new(1);
        let (mut tasks, mut model) = (ByDeadline::new(), Vec::new());
        for number in 1..20_000 {
            tasks.rule = if number % 2_000 < 1_000 { Late::InOrder } else { Late::Behind };
            tasks.now_ns = number / 100;
            let mut deadline_ns = || {
                (random.below(4) > 0)
                    .then(|| number / 100 + random.below(8) as u64)
                    .map(|ns| ns.saturating_sub(4))
            };
            let (from, to) = (deadline_ns(), deadline_ns());
            let mut places: Vec<Place> =
                model.iter().map(|&(ns, number)| place(&tasks, ns, number)).collect();
            places.sort_unstable();
            let of_new = place(&tasks, to, number);
            check(&mut tasks, &places, of_new);
            match random.below(16) {
                0 => {
                    tasks.change(from, to, |task| task.group.index() == 1);
                    let moved = model.iter_mut().filter(|(ns, number)| *ns == from && number % 2 == 1);
                    moved.for_each(|(ns, _)| *ns = to);
                }
                1..8 => {
                    let of = list(&place(&tasks, from, number));
                    let first = places.iter().find(|place| list(place) == of).map(|(.., number)| *number);
                    assert_eq!(tasks.pop(of), first.map(|number| task(number).id));
                    model.retain(|(_, number)| Some(*number) != first);
                }
                _ => {
                    tasks.push(to, ReadyTask { number, task: task(number) });
                    model.push((to, number));
                }
            }
        }
        assert!(model.len() > 100);
    }

    #[test]
    fn memory_of_a_crowd_is_given_back() {
        let mut tasks = ByDeadline::new();
        (1..=10_000).for_each(|number| tasks.push(None, ReadyTask { number, task: task(number) }));
        while tasks.pop(List::Undated).is_some() {}
        assert!(tasks.undated.capacity() >= 10_000);
        tasks.shrink_to(1_024);
        assert!(tasks.undated.capacity() <= 1_024);
    }
}
