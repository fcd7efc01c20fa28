//! [`ByKey`]: ready tasks in the order of a key, which is their own or their group's.

mod by_deadline;
mod by_priority;
mod deadline;
mod own_or_group;
mod passed_over;
mod priority;
mod ready_list;

pub use deadline::{Deadline, Late};
pub use priority::Priority;

use crate::parts::KEPT;
use crate::parts::fair_turns::FairTurns;
use crate::{Gone, GroupId, Served, Subject, Task, TaskId};
use own_or_group::OwnOrGroup;
use passed_over::PassedOver;
use ready_list::{ReadyList, ReadyTask};

/// Ready tasks in lists, by their keys. The first task of the first list goes first.
trait Lists {
    /// A task may have none.
    type Key: Copy + PartialEq;

    /// A name of a list.
    type List: Copy + PartialEq;

    /// Whether there are no tasks.
    fn is_empty(&self) -> bool;

    /// The first list that has tasks.
    fn first(&self) -> Option<Self::List>;

    /// Whether another list has tasks.
    fn any_besides(&self, list: Self::List) -> bool;

    /// The list of a task with this key, if it would go before all that are here.
    fn list_ahead(&self, key: Option<Self::Key>) -> Option<Self::List>;

    /// The list that a fair turn is for, where `first` is the first one.
    fn fair_turn(&mut self, first: Self::List) -> Self::List;

    /// The list of tasks with this key, if no other has tasks and it is in the order of becoming ready.
    fn only_list(&mut self, key: Option<Self::Key>) -> Option<&mut ReadyList>;

    /// Puts in the task that became ready last.
    fn push(&mut self, key: Option<Self::Key>, ready: ReadyTask);

    /// Takes the first task out of a list.
    fn pop(&mut self, list: Self::List) -> Option<TaskId>;

    /// The task that is `ahead` places behind the first of the first list, where that is cheap to say.
    fn peek(&self, ahead: usize) -> Option<TaskId>;

    /// Gives those under a key for which `moves` says so another, and the places that they would have if they had become ready
    /// under it.
    fn change(&mut self, from: Option<Self::Key>, to: Option<Self::Key>, moves: impl Fn(Task) -> bool);

    /// Gives memory back, but that for so many. There are no tasks.
    fn shrink_to(&mut self, kept: usize);
}

/// Ready tasks in the order of a key, which was said of them or of their groups, and of becoming ready.
///
/// Those whose list is passed over have fair turns.
#[derive(Clone)]
struct ByKey<L: Lists> {
    ready: L,
    keys: OwnOrGroup<L::Key>,
    passed_over: PassedOver,
    /// How often a task became ready.
    pushes: u64,
}

impl<L: Lists> ByKey<L> {
    /// With a fair turn in 32 pops that pass over others.
    const fn new(ready: L) -> Self {
        let passed_over = PassedOver::new(&FairTurns::DEFAULT);
        Self { ready, keys: OwnOrGroup::new(), passed_over, pushes: 0 }
    }

    fn with_fair_turns(self, fair_turns: &FairTurns) -> Self {
        Self { passed_over: PassedOver::new(fair_turns), ..self }
    }

    #[inline]
    fn push(&mut self, task: Task) {
        self.push_under(self.keys.of(task), task);
    }

    #[inline]
    fn push_under(&mut self, key: Option<L::Key>, task: Task) {
        self.pushes += 1;
        self.ready.push(key, ReadyTask { number: self.pushes, task });
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        let first = self.ready.first()?;
        let list = if self.next_is_fair(first) { self.fair_turn(first) } else { first };
        self.ready.pop(list)
    }

    /// [`push`](ByKey::push) of a task that yields, and [`pop`](ByKey::pop).
    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        // Where no other is ready, nor was any when it was popped, it goes on and passes over none.
        if self.ready.is_empty() {
            return Some(task.id);
        }
        let key = self.keys.of(task);
        if let Some(list) = self.ready.only_list(key) {
            self.passed_over.reset_row();
            self.pushes += 1;
            return Some(list.push_pop(ReadyTask { number: self.pushes, task }).task.id);
        }
        let Some(list) = self.ready.list_ahead(key) else {
            self.push_under(key, task);
            return self.pop();
        };
        // It goes on unless it has passed over others for long.
        if !self.next_is_fair(list) {
            return Some(task.id);
        }
        self.push_under(key, task);
        let list = self.fair_turn(list);
        self.ready.pop(list)
    }

    /// Counts a pop of the first list, if it passes over others. Whether it is to be a fair turn instead.
    #[inline]
    fn next_is_fair(&mut self, first: L::List) -> bool {
        if !self.ready.any_besides(first) {
            self.passed_over.reset_row();
            return false;
        }
        self.passed_over.count_pop()
    }

    /// The list that a fair turn is for.
    fn fair_turn(&mut self, first: L::List) -> L::List {
        let list = self.ready.fair_turn(first);
        if list != first {
            self.passed_over.take_turn();
        }
        list
    }

    /// Gives a task or a group a key, or none.
    #[inline]
    fn said(&mut self, of: Subject, key: Option<L::Key>) {
        match of {
            Subject::NewGroup { group, .. } => drop(self.keys.set_group(group, key)),
            Subject::Group(group) => self.change_group(group, key),
            Subject::Task(task) => self.keys.set_own(task.id, key),
        }
    }

    #[inline]
    fn served(&mut self, served: Served) {
        if let Served::Queue { ns } = served {
            self.passed_over.time_passed(ns);
        }
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(task) => self.keys.set_own(task.id, None),
            Gone::Group(group) => drop(self.keys.set_group(group, None)),
            Gone::Backlog => self.give_back(),
        }
    }

    /// Gives an open group a key, or takes it back: its ready tasks that have none of their own move.
    fn change_group(&mut self, group: GroupId, key: Option<L::Key>) {
        let before = self.keys.set_group(group, key);
        if before != key {
            let keys = &self.keys;
            self.ready.change(before, key, |task| task.group == group && keys.follows_group(task));
        }
    }

    /// Gives memory back, but for what many tasks and groups take.
    fn give_back(&mut self) {
        self.ready.shrink_to(KEPT);
        self.keys.give_back(KEPT);
    }
}

/// The calls of a [`Scheduler`](crate::Scheduler) that a policy passes on to its `by_key`. The key is one of the attributes.
macro_rules! calls_by_key {
    ($key:ident) => {
        #[inline]
        fn push(&mut self, task: Task, _why: Ready) {
            self.by_key.push(task);
        }

        #[inline]
        fn pop(&mut self) -> Option<TaskId> {
            self.by_key.pop()
        }

        #[inline]
        fn push_pop(&mut self, task: Task) -> Option<TaskId> {
            self.by_key.push_pop(task)
        }

        #[inline]
        fn said(&mut self, of: Subject, attributes: &Attributes) {
            self.by_key.said(of, attributes.$key);
        }

        #[inline]
        fn gone(&mut self, gone: Gone) {
            self.by_key.gone(gone);
        }
    };
}

use calls_by_key;
