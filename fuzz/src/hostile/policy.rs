//! The scheduler that does wrong: FIFO, until its plan says otherwise.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use clockworker::PolicyFault;
use clockworker::schedulers::{GroupId, Ready, Scheduler, Task, TaskId};

use super::task::Place;
use super::world::{Owed, World};
use crate::quiet::{calling_back, panic_as_meant};

const PANICKED: &[PolicyFault] = &[PolicyFault::Panicked];
const LOST: &[PolicyFault] = &[PolicyFault::Lost];
/// A task given out twice may have ended meanwhile, and is no task's then.
const NOT_READY: &[PolicyFault] = &[PolicyFault::Repeated, PolicyFault::Invented];

pub(super) struct Hostile {
    world: Rc<World>,
    ready: VecDeque<TaskId>,
    last: Option<TaskId>,
    /// Calls until the next misdeed, and which it is. None when the plan is at its end.
    next: Cell<Option<(u8, u8)>>,
    panics_in_drop: bool,
}

impl Hostile {
    pub(super) fn new(world: &Rc<World>, panics_in_drop: bool) -> Self {
        let next = Cell::new(plan(world));
        Self { world: Rc::clone(world), ready: VecDeque::new(), last: None, next, panics_in_drop }
    }

    /// A call, which is one too many for a scheduler that was found at fault. The misdeed, if it is time for one.
    fn called(&self) -> Option<u8> {
        assert!(self.world.at_fault.get().is_none(), "called after a fault");
        match self.next.get()? {
            (0, misdeed) => {
                self.next.set(plan(&self.world));
                Some(misdeed)
            }
            (left, misdeed) => {
                self.next.set(Some((left - 1, misdeed)));
                None
            }
        }
    }

    fn is_at_fault(&self, expected: &'static [PolicyFault]) {
        let _ = self.world.at_fault.set(expected);
    }

    fn panic(&self) -> ! {
        self.is_at_fault(PANICKED);
        panic_as_meant()
    }

    /// A misdeed that is open to every method.
    fn any(&self, misdeed: u8) {
        if misdeed < 128 {
            self.panic();
        }
        self.call_back(misdeed & 15);
    }

    fn call_back(&self, what: u8) {
        let world = &self.world;
        world.excused.set(true);
        calling_back(|| match what {
            0..=2 => world.spawn(Place::Honest),
            3..=5 => world.spawn(Place::Hostile),
            6 | 7 => world.wake(what - 6),
            8 | 9 => world.abort(what - 8),
            10 => world.drop_handle(0),
            11 => world.look_at_handle(0),
            other => world.meddle(other - 12),
        });
    }

    /// What is pushed is owed.
    fn owe(&self, task: Task, why: Ready) {
        let world = &self.world;
        let slot = task.id.slot();
        let mut slots = world.slots.borrow_mut();
        if slot >= slots.len() {
            slots.resize(slot + 1, None);
        }
        if why == Ready::Spawned {
            slots[slot] = world.is_spawned().map(|index| (task.id, index));
        }
        let known = slots[slot].filter(|&(id, _)| id == task.id);
        let Some((id, index)) = known else { panic!("pushed {:?}, whom nobody spawned", task.id) };
        let mut owed = world.owed.borrow_mut();
        assert!(owed.iter().all(|owed| owed.id != id), "pushed twice");
        owed.push(Owed { id, index, since: world.hostile_polls.get() });
    }

    /// Gives out an id, or none, and notes whether that is right.
    fn give(&mut self, id: Option<TaskId>) -> Option<TaskId> {
        let world = &self.world;
        let mut owed = world.owed.borrow_mut();
        match id {
            Some(id) => match owed.iter().position(|owed| owed.id == id) {
                Some(place) => drop(owed.swap_remove(place)),
                None => self.is_at_fault(NOT_READY),
            },
            None if owed.iter().any(|owed| world.is_alive(owed.index)) => self.is_at_fault(LOST),
            None => {}
        }
        drop(owed);
        self.last = id;
        id
    }

    fn take(&mut self, misdeed: u8) -> Option<TaskId> {
        match misdeed {
            0..16 => None,
            16..32 => Some(TaskId::new(1 << 20, 1)),
            32..48 => Some(TaskId::new(u32::MAX, u32::MAX)),
            48..64 => {
                self.ready.front().map(|id| TaskId::new(id.slot() as u32, id.generation().wrapping_sub(1)))
            }
            64..80 => self.last,
            80..96 => {
                self.ready.pop_front();
                self.ready.pop_front()
            }
            96..112 => self.ready.pop_back(),
            112..128 => {
                let first = self.ready.pop_front()?;
                self.ready.insert(self.ready.len() / 2, first);
                self.ready.front().copied()
            }
            _ => {
                self.any(misdeed << 1);
                self.ready.pop_front()
            }
        }
    }

    fn insert(&mut self, id: TaskId, misdeed: u8) {
        match misdeed {
            0..64 => {}
            64..96 => self.ready.extend([id, id]),
            96..128 => self.ready.push_front(id),
            _ => {
                self.any(misdeed << 1);
                self.ready.push_back(id);
            }
        }
    }
}

/// The next misdeed.
fn plan(world: &World) -> Option<(u8, u8)> {
    let delay = world.plan.try_next()?;
    Some((delay % 64, world.plan.byte()))
}

impl Scheduler for Hostile {
    fn push(&mut self, task: Task, why: Ready) {
        let misdeed = self.called();
        self.owe(task, why);
        match misdeed {
            None => self.ready.push_back(task.id),
            Some(misdeed) => self.insert(task.id, misdeed),
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        let id = match self.called() {
            None => self.ready.pop_front(),
            Some(misdeed) => self.take(misdeed),
        };
        self.give(id)
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        match self.called() {
            None => {
                self.owe(task, Ready::Yielded);
                self.ready.push_back(task.id);
                let id = self.ready.pop_front();
                self.give(id)
            }
            // Loses it, or keeps it although it goes on.
            Some(misdeed @ 0..128) => {
                self.owe(task, Ready::Yielded);
                let id = match misdeed {
                    0..64 => self.ready.pop_front(),
                    _ => {
                        self.ready.push_back(task.id);
                        Some(task.id)
                    }
                };
                self.give(id)
            }
            Some(misdeed) => {
                self.owe(task, Ready::Yielded);
                self.any(misdeed << 1);
                self.ready.push_back(task.id);
                let id = self.take(misdeed << 1 & 127);
                self.give(id)
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<TaskId> {
        match self.called() {
            None => self.ready.get(ahead).copied(),
            Some(misdeed @ 0..128) => Some(TaskId::new(u32::MAX >> (misdeed % 32), misdeed.into())),
            Some(misdeed) => {
                self.any(misdeed << 1);
                None
            }
        }
    }

    fn patience(&self, _tasks: usize) -> Option<u64> {
        let own = 1 + u64::from(self.world.own_patience);
        let patience = match self.called() {
            None => Some(own),
            Some(0..32) => None,
            Some(32..64) => Some(0),
            Some(64..96) => Some(u64::MAX),
            Some(misdeed @ 96..128) => Some(misdeed.into()),
            Some(misdeed) => {
                self.any(misdeed << 1);
                Some(own)
            }
        };
        let (least, greatest) = self.world.patience.get();
        let greatest = greatest.zip(patience).map(|(greatest, patience)| greatest.max(patience));
        let least = least.min(patience.unwrap_or(u64::MAX));
        self.world.patience.set((least, greatest.filter(|&greatest| greatest < 1 << 32)));
        patience
    }

    fn served(&mut self, _task: Task, _service_ns: u64) {
        if let Some(misdeed) = self.called() {
            self.any(misdeed);
        }
    }

    fn finished(&mut self, task: Task) {
        self.world.slots.borrow_mut()[task.id.slot()] = None;
        if let Some(misdeed) = self.called() {
            self.any(misdeed);
        }
    }

    fn group_closed(&mut self, _group: GroupId) {
        if let Some(misdeed) = self.called() {
            self.any(misdeed);
        }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        if self.panics_in_drop {
            panic_as_meant();
        }
    }
}
