//! [`Waiters`]: those who wait until a queue takes one more task.
//!
//! A waiter whose group is full stands in the group's line. Once the group has a place for it, the place is *reserved*, and
//! the waiter moves to the queue's line. Who is first there gets the next place of the queue, reserved until it spawns. A
//! waiter that moves keeps its ticket, so each line is in the order of arrival. A full group holds up no other group.
//!
//! Nothing here runs foreign code: wakers are cloned, woken and dropped by the callers.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

use clockworker_schedulers::QueueId;

use super::groups::{GroupIndex, NO_GROUP};
use crate::base::{drop_quietly, wake_quietly};

/// The waiters of a queue, and the places reserved for them. Entering, leaving and moving take O(log n) steps.
#[derive(Default)]
pub(crate) struct Waiters {
    /// By line, then by ticket.
    lines: BTreeMap<(Line, u64), Rc<Waiter>>,
    next_ticket: u64,
    /// Places of the queue that are reserved.
    reserved: usize,
    /// Places of groups that are reserved. Has no zeros.
    reserved_in: BTreeMap<GroupIndex, usize>,
    /// Groups in which a place may have become free.
    freed: Vec<GroupIndex>,
}

/// What a waiter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    /// A place in the queue; the place in its group, if it has one, is reserved.
    Queue,
    /// A place in the group.
    Group(GroupIndex),
}

/// What has become of a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaiterState {
    /// It stands in this line.
    Waits(Line),
    /// A place is reserved for it.
    Called,
    /// It stands in no line, and nothing is reserved for it: it left, or the queue takes no more tasks.
    Gone,
}

/// One that waits for a place.
pub(crate) struct Waiter {
    ticket: u64,
    group: GroupIndex,
    /// The queue of the task that waits, if one does.
    from: Option<QueueId>,
    state: Cell<WaiterState>,
    waker: Cell<Option<Waker>>,
}

impl Waiter {
    /// What has become of it.
    pub(crate) fn state(&self) -> WaiterState {
        self.state.get()
    }

    /// Has it woken by `waker` from now on. Cloning that, and dropping the last one, is foreign code, which may have changed
    /// the waiter's state.
    pub(crate) fn register(&self, waker: &Waker) {
        let last = self.waker.take();
        let is_same = last.as_ref().is_some_and(|last| last.will_wake(waker));
        self.waker.set(last);
        if !is_same {
            let new = waker.clone();
            drop(self.waker.replace(Some(new)));
        }
    }

    /// Drops its waker. This is foreign code; a panic in it is swallowed.
    pub(crate) fn forget_waker(&self) {
        drop_quietly(self.waker.take());
    }

    /// Wakes it. This is foreign code; a panic in it is swallowed.
    pub(crate) fn wake(&self) {
        self.waker.take().into_iter().for_each(wake_quietly);
    }
}

impl Waiters {
    /// Adds one to a line. Reserves its group's place, if the line is the queue's.
    pub(crate) fn enter(
        &mut self,
        line: Line,
        (group, from): (GroupIndex, Option<QueueId>),
        waker: Waker,
    ) -> Rc<Waiter> {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        if line == Line::Queue {
            self.reserve_in(group);
        }
        let (state, waker) = (Cell::new(WaiterState::Waits(line)), Cell::new(Some(waker)));
        let waiter = Rc::new(Waiter { ticket, group, from, state, waker });
        self.lines.insert((line, ticket), Rc::clone(&waiter));
        waiter
    }

    /// Takes one out of its line, and takes back what is reserved for it.
    pub(crate) fn leave(&mut self, waiter: &Waiter) {
        match waiter.state.replace(WaiterState::Gone) {
            WaiterState::Waits(line) => {
                self.lines.remove(&(line, waiter.ticket));
                if line == Line::Queue {
                    self.give_back_in(waiter.group);
                }
            }
            WaiterState::Called => {
                self.reserved -= 1;
                self.give_back_in(waiter.group);
            }
            WaiterState::Gone => {}
        }
    }

    /// Takes out those that wait in a queue of which it takes no more tasks, for the caller to wake them. Those that were
    /// called keep what is reserved for them until they leave.
    pub(crate) fn dismiss(&mut self, is_refused: impl Fn(Option<QueueId>) -> bool) -> Vec<Rc<Waiter>> {
        let lines = std::mem::take(&mut self.lines).into_iter();
        let (dismissed, kept) = lines.partition::<BTreeMap<_, _>, _>(|(_, waiter)| is_refused(waiter.from));
        self.lines = kept;
        let waiting: Vec<_> = dismissed.into_values().collect();
        for waiter in &waiting {
            if waiter.state.replace(WaiterState::Gone) == WaiterState::Waits(Line::Queue) {
                self.give_back_in(waiter.group);
            }
        }
        waiting
    }

    /// Reserves a place of the queue for the first in its line.
    pub(crate) fn call_next(&mut self) -> Option<Rc<Waiter>> {
        let waiter = self.pop(Line::Queue)?;
        waiter.state.set(WaiterState::Called);
        self.reserved += 1;
        Some(waiter)
    }

    /// Reserves `places` of the group for the first in its line, which move to the queue's line. True if some are left.
    pub(crate) fn call_up(&mut self, group: GroupIndex, places: usize) -> bool {
        for _ in 0..places {
            let Some(waiter) = self.pop(Line::Group(group)) else { return false };
            self.reserve_in(group);
            waiter.state.set(WaiterState::Waits(Line::Queue));
            self.lines.insert((Line::Queue, waiter.ticket), waiter);
        }
        self.any_in(Line::Group(group))
    }

    /// Notes groups in which a place may have become free.
    pub(crate) fn note_freed(&mut self, groups: impl IntoIterator<Item = GroupIndex>) {
        self.freed.extend(groups);
    }

    /// Notes that places may have become free in all groups.
    pub(crate) fn note_all_freed(&mut self) {
        self.freed.clear();
        let groups = self.lines.keys().filter_map(|&(line, _)| match line {
            Line::Group(group) => Some(group),
            Line::Queue => None,
        });
        self.freed.extend(groups);
        self.freed.dedup();
    }

    /// Takes one of the groups that were noted.
    pub(crate) fn next_freed(&mut self) -> Option<GroupIndex> {
        self.freed.pop()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether any stands in that line.
    pub(crate) fn any_in(&self, line: Line) -> bool {
        self.first(line).is_some()
    }

    /// Places of the queue that are reserved.
    pub(crate) fn reserved(&self) -> usize {
        self.reserved
    }

    /// Places of the group that are reserved.
    pub(crate) fn reserved_in(&self, group: GroupIndex) -> usize {
        self.reserved_in.get(&group).copied().unwrap_or(0)
    }

    fn first(&self, line: Line) -> Option<u64> {
        self.lines.range((line, 0)..=(line, u64::MAX)).next().map(|(&(_, ticket), _)| ticket)
    }

    fn pop(&mut self, line: Line) -> Option<Rc<Waiter>> {
        let first = self.first(line)?;
        self.lines.remove(&(line, first))
    }

    fn reserve_in(&mut self, group: GroupIndex) {
        if group != NO_GROUP {
            *self.reserved_in.entry(group).or_default() += 1;
        }
    }

    fn give_back_in(&mut self, group: GroupIndex) {
        if let Some(reserved) = self.reserved_in.get_mut(&group) {
            *reserved -= 1;
            if *reserved == 0 {
                self.reserved_in.remove(&group);
            }
            self.freed.push(group);
        }
    }
}
