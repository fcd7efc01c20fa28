//! A plan for one fault, at its moment.

use std::cell::Cell;
use std::rc::Rc;

use clockworker::PolicyFault;
use clockworker::schedulers::TaskId;

use super::{Call, Misdeed, Plan};
use crate::panics::panic_unless_unwinding;

/// One way to break the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None at all.
    None,
    /// It does that with its tasks.
    Does(Misdeed),
    /// It panics in that method.
    Panics(Call),
    /// It panics in its drop.
    PanicsInDrop,
    /// Once it has panicked in `pop`, it also does in its drop.
    PanicsInPopAndDrop,
    /// It hints at tasks that do not exist, which is no fault.
    PeeksNonsense,
}

impl Fault {
    /// Each that there is.
    pub const ALL: &[Fault] = &[
        Fault::Does(Misdeed::LosePushed),
        Fault::Does(Misdeed::DoublePushed),
        Fault::Does(Misdeed::PushToFront),
        Fault::Does(Misdeed::ClaimEmpty),
        Fault::Does(Misdeed::InventSlot),
        Fault::Does(Misdeed::InventMax),
        Fault::Does(Misdeed::InventGeneration),
        Fault::Does(Misdeed::LosePopped),
        Fault::Does(Misdeed::KeepPopped),
        Fault::Does(Misdeed::PopFromBack),
        Fault::Does(Misdeed::Repeat),
        Fault::Does(Misdeed::LoseSwapped),
        Fault::Does(Misdeed::KeepSwapped),
        Fault::Panics(Call::Push),
        Fault::Panics(Call::Pop),
        Fault::Panics(Call::PushPop),
        Fault::Panics(Call::Peek),
        Fault::Panics(Call::Served),
        Fault::Panics(Call::Finished),
        Fault::Panics(Call::GroupOpened),
        Fault::Panics(Call::GroupChanged),
        Fault::Panics(Call::Spawned),
        Fault::Panics(Call::GroupClosed),
        Fault::PanicsInDrop,
        Fault::PanicsInPopAndDrop,
        Fault::PeeksNonsense,
    ];

    /// What the executor may report it as; nothing if it is none.
    pub fn reported(self) -> &'static [PolicyFault] {
        use Misdeed as M;
        match self {
            Fault::None | Fault::PanicsInDrop | Fault::PeeksNonsense => &[],
            Fault::Panics(_) | Fault::PanicsInPopAndDrop => &[PolicyFault::Panicked],
            Fault::Does(M::PushToFront | M::PopFromBack) => &[],
            Fault::Does(M::LosePushed | M::LosePopped | M::LoseSwapped | M::ClaimEmpty) => {
                &[PolicyFault::Lost]
            }
            // The task that it gave out twice may have finished, and is no task's then.
            Fault::Does(M::Repeat | M::DoublePushed | M::KeepPopped | M::KeepSwapped) => {
                &[PolicyFault::Repeated, PolicyFault::Invented]
            }
            Fault::Does(M::InventSlot | M::InventMax | M::InventGeneration) => &[PolicyFault::Invented],
        }
    }
}

/// Has one fault, at the `after`-th call that gives occasion to it: once, or from then on.
#[derive(Debug)]
pub struct Faulty {
    fault: Fault,
    after: Cell<u32>,
    for_ever: bool,
    struck: Rc<Cell<u32>>,
}

impl Faulty {
    /// Has the fault once, after so many occasions.
    pub fn once(fault: Fault, after: u32) -> Self {
        Self { fault, after: Cell::new(after), for_ever: false, struck: Rc::default() }
    }

    /// Has the fault at each occasion after so many.
    pub fn for_ever(fault: Fault, after: u32) -> Self {
        Self { for_ever: true, ..Self::once(fault, after) }
    }

    /// How often it did wrong; counts on when the scheduler is in use, and is there when that is dropped.
    pub fn struck(&self) -> Rc<Cell<u32>> {
        Rc::clone(&self.struck)
    }

    fn strike(&self) {
        self.struck.set(self.struck.get() + 1);
    }

    /// There is occasion to the fault; whether it does wrong now.
    fn strikes(&self) -> bool {
        let left = self.after.get();
        self.after.set(left.saturating_sub(1));
        let now = left == 0 && (self.for_ever || self.struck.get() == 0);
        if now {
            self.strike();
        }
        now
    }
}

impl Plan for Faulty {
    fn begin(&self, call: Call) {
        let is_in =
            |method| call == method || call == Call::PushPop && matches!(method, Call::Push | Call::Pop);
        let panics = match self.fault {
            Fault::Panics(method) => is_in(method),
            Fault::PanicsInPopAndDrop => is_in(Call::Pop),
            _ => false,
        };
        if panics && self.strikes() {
            panic_unless_unwinding();
        }
    }

    fn does(&self, misdeed: Misdeed, ready: usize) -> bool {
        let is_about_pop = matches!(
            misdeed,
            Misdeed::ClaimEmpty
                | Misdeed::InventSlot
                | Misdeed::InventMax
                | Misdeed::LosePopped
                | Misdeed::PopFromBack
        );
        self.fault == Fault::Does(misdeed) && (ready > 0 || !is_about_pop) && self.strikes()
    }

    fn peeks(&self, ahead: usize) -> Option<TaskId> {
        let nonsense = TaskId::new(u32::MAX - ahead as u32, 0);
        (self.fault == Fault::PeeksNonsense).then(|| {
            self.strike();
            nonsense
        })
    }

    fn dropped(&self) {
        let after_panic = self.fault == Fault::PanicsInPopAndDrop && self.struck.get() > 0;
        if self.fault == Fault::PanicsInDrop || after_panic {
            self.strike();
            panic_unless_unwinding();
        }
    }
}
