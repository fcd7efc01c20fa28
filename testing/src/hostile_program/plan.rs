//! What the scheduler does wrong, by the bytes of the input.

use std::cell::Cell;
use std::rc::Rc;

use crate::hostile::{Call, Misdeed, Plan};
use crate::panics::panic_as_meant;
use clockworker::PolicyFault;
use clockworker::schedulers::{Ready, Task, TaskId};

use super::scene::{Owed, Scene};
use super::task::Place;
use crate::quiet::calling_back;

const PANICKED: &[PolicyFault] = &[PolicyFault::Panicked];
const LOST: &[PolicyFault] = &[PolicyFault::Lost];
/// A task given out twice may have ended meanwhile, and is no task's then.
const NOT_READY: &[PolicyFault] = &[PolicyFault::Repeated, PolicyFault::Invented];

/// After how many calls which misdeed comes: two bytes of the scene's plan for each.
pub(super) struct Bytewise {
    scene: Rc<Scene>,
    /// Calls until the next misdeed, and which it is. None when the plan is at its end.
    next: Cell<Option<(u8, u8)>>,
    /// In the call under way.
    misdeed: Cell<Option<Misdeed>>,
    lie: Cell<Option<u8>>,
    panics_in_drop: bool,
}

impl Bytewise {
    pub(super) fn new(scene: &Rc<Scene>, panics_in_drop: bool) -> Self {
        let next = Cell::new(draw(scene));
        Self { scene: Rc::clone(scene), next, misdeed: Cell::default(), lie: Cell::default(), panics_in_drop }
    }

    /// The byte of the misdeed, if it is time for one.
    fn due(&self) -> Option<u8> {
        let (left, misdeed) = self.next.get()?;
        let is_due = left == 0;
        self.next.set(if is_due { draw(&self.scene) } else { Some((left - 1, misdeed)) });
        is_due.then_some(misdeed)
    }

    fn is_at_fault(&self, expected: &'static [PolicyFault]) {
        let _ = self.scene.at_fault.set(expected);
    }

    /// A misdeed that is open to every method.
    fn any(&self, misdeed: u8) {
        if misdeed < 128 {
            self.is_at_fault(PANICKED);
            panic_as_meant();
        }
        self.call_back(misdeed & 15);
    }

    fn call_back(&self, what: u8) {
        let scene = &self.scene;
        scene.excused.set(true);
        calling_back(|| match what {
            0..=2 => scene.spawn(Place::Honest),
            3..=5 => scene.spawn(Place::Hostile),
            6 | 7 => scene.wake(what - 6),
            8 | 9 => scene.abort(what - 8),
            10 => scene.drop_handle(0),
            11 => scene.look_at_handle(0),
            other => scene.meddle(other - 12),
        });
    }
}

fn draw(scene: &Scene) -> Option<(u8, u8)> {
    let delay = scene.plan.try_next()?;
    Some((delay % 64, scene.plan.byte()))
}

/// What a method may do wrong with tasks: the first half of the bytes, in equal parts.
fn with_tasks(call: Call, misdeed: u8) -> Option<Misdeed> {
    use Misdeed as M;
    let of: &[Misdeed] = match call {
        Call::Push => &[M::LosePushed, M::LosePushed, M::DoublePushed, M::PushToFront],
        Call::PushPop => &[M::LoseSwapped, M::KeepSwapped],
        Call::Pop => &[
            M::ClaimEmpty,
            M::InventSlot,
            M::InventMax,
            M::InventGeneration,
            M::Repeat,
            M::LosePopped,
            M::PopFromBack,
            M::KeepPopped,
        ],
        _ => return None,
    };
    of.get(usize::from(misdeed) * of.len() / 128).copied()
}

impl Plan for Bytewise {
    fn begin(&self, call: Call) {
        // One too many for a scheduler that was found at fault.
        assert!(self.scene.at_fault.get().is_none(), "called after a fault");
        let due = self.due();
        let misdeed = due.unwrap_or(0);
        self.misdeed.set(due.and_then(|misdeed| with_tasks(call, misdeed)));
        self.lie.set(due.filter(|&misdeed| misdeed < 128));
        match call {
            _ if due.is_none() => {}
            Call::Served | Call::Finished | Call::Spawned | Call::TimeIs => self.any(misdeed),
            Call::GroupOpened | Call::GroupChanged | Call::GroupClosed => self.any(misdeed),
            _ if misdeed < 128 => {}
            _ => {
                self.any(misdeed << 1);
                if call == Call::PushPop {
                    self.misdeed.set(with_tasks(Call::Pop, misdeed << 1 & 127));
                }
            }
        }
    }

    fn does(&self, misdeed: Misdeed, _ready: usize) -> bool {
        self.misdeed.get() == Some(misdeed)
    }

    fn peeks(&self, _ahead: usize) -> Option<TaskId> {
        self.lie.get().map(|lie| TaskId::new(u32::MAX >> (lie % 32), lie.into()))
    }

    fn patience(&self, _tasks: usize) -> Option<u64> {
        let patience = match self.lie.get() {
            None => Some(1 + u64::from(self.scene.own_patience)),
            Some(0..32) => None,
            Some(32..64) => Some(0),
            Some(64..96) => Some(u64::MAX),
            Some(lie) => Some(lie.into()),
        };
        let (least, greatest) = self.scene.patience.get();
        let greatest = greatest.zip(patience).map(|(greatest, patience)| greatest.max(patience));
        let least = least.min(patience.unwrap_or(u64::MAX));
        self.scene.patience.set((least, greatest.filter(|&greatest| greatest < 1 << 32)));
        patience
    }

    /// What is pushed is owed.
    fn pushed(&self, task: Task, why: Ready) {
        let scene = &self.scene;
        let slot = task.id.slot();
        let mut slots = scene.slots.borrow_mut();
        if slot >= slots.len() {
            slots.resize(slot + 1, None);
        }
        if why == Ready::Spawned {
            slots[slot] = scene.is_spawned().map(|index| (task.id, index));
        }
        let known = slots[slot].filter(|&(id, _)| id == task.id);
        let Some((id, index)) = known else { panic!("pushed {:?}, which was not spawned", task.id) };
        let mut owed = scene.owed.borrow_mut();
        assert!(owed.iter().all(|owed| owed.id != id), "pushed twice");
        owed.push(Owed { id, index, since: scene.hostile_polls.get() });
    }

    /// Notes whether what is given out is right.
    fn gave(&self, id: Option<TaskId>) {
        let mut owed = self.scene.owed.borrow_mut();
        match id {
            Some(id) => match owed.iter().position(|owed| owed.id == id) {
                Some(place) => drop(owed.swap_remove(place)),
                None => self.is_at_fault(NOT_READY),
            },
            None if owed.iter().any(|owed| self.scene.is_alive(owed.index)) => self.is_at_fault(LOST),
            None => {}
        }
    }

    fn finished(&self, task: Task) {
        self.scene.slots.borrow_mut()[task.id.slot()] = None;
    }

    fn dropped(&self) {
        if self.panics_in_drop {
            panic_as_meant();
        }
    }
}
