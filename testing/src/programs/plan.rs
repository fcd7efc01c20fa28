//! What a hostile scheduler does wrong, by bytes of the program, and what must come of that.
//!
//! A fault is reported if there was one, as what it was, and none if there was not; then the scheduler is not called again. A
//! scheduler that calls back into its executor is excused: which fault that is, if any, is not foretold.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use clockworker::PolicyFault;
use clockworker::schedulers::{Ready, Task, TaskId};

use super::clockworker::Clockworker;
use super::event::{Actor, being_spawned};
use super::grammar::Grammar;
use super::interpreter::Subject;
use super::op::TaskName;
use super::program::Kind;
use crate::hostile::{Call, Misdeed, Plan};
use crate::panics::{calling_back, panic_as_meant};
use crate::tape::Tape;

/// The queue whose scheduler is hostile, and its slot.
pub(super) const HOSTILE_QUEUE: u16 = 1;
pub(super) const HOSTILE_SLOT: u8 = 1;

const PANICKED: &[PolicyFault] = &[PolicyFault::Panicked];
const LOST: &[PolicyFault] = &[PolicyFault::Lost];
/// A task given out twice may have ended meanwhile, and is no task's then.
const NOT_READY: &[PolicyFault] = &[PolicyFault::Repeated, PolicyFault::Invented];

/// A ready task that the scheduler is to give out.
struct Owed {
    id: TaskId,
    /// None of a task from another thread.
    name: Option<TaskName>,
}

/// What the scheduler does wrong and has done, shared with what looks after it.
pub(super) struct Hostility {
    plan: Tape,
    /// The one call in which it does wrong, if not in all.
    only_in: Option<Call>,
    panics_in_drop: bool,
    may_be_replaced: bool,
    /// How many names of tasks were given, those of its own included.
    names: Cell<TaskName>,
    /// Calls until the next misdeed, and which it is. None when the plan is at its end.
    next: Cell<Option<(u8, u8)>>,
    /// In the call under way.
    misdeed: Cell<Option<Misdeed>>,
    lie: Cell<Option<u8>>,
    /// By slot, the task that has it.
    slots: RefCell<BTreeMap<usize, (TaskId, Option<TaskName>)>>,
    /// Tasks whose futures were dropped. The scheduler may give those out, or not.
    ended: RefCell<BTreeSet<TaskName>>,
    owed: RefCell<Vec<Owed>>,
    /// What its fault must be reported as, once it has one.
    at_fault: OnceCell<&'static [PolicyFault]>,
    excused: Cell<bool>,
    replaced: Cell<bool>,
}

impl Hostility {
    pub(super) fn new(plan: &[u8], only_in: Option<Call>, names: TaskName) -> Rc<Self> {
        let plan = Tape::new(plan);
        let (may_be_replaced, panics_in_drop) = (plan.byte().is_multiple_of(8), plan.below(2) == 1);
        let next = Cell::new(draw(&plan));
        Rc::new(Self {
            plan,
            only_in,
            panics_in_drop,
            may_be_replaced,
            names: Cell::new(names),
            next,
            misdeed: Cell::default(),
            lie: Cell::default(),
            slots: RefCell::default(),
            ended: RefCell::default(),
            owed: RefCell::default(),
            at_fault: OnceCell::new(),
            excused: Cell::default(),
            replaced: Cell::default(),
        })
    }

    pub(super) fn names(&self) -> TaskName {
        self.names.get()
    }

    pub(super) fn ended(&self, task: TaskName) {
        self.ended.borrow_mut().insert(task);
    }

    /// Whether another scheduler may take its place. In most programs it stays.
    pub(super) fn may_be_replaced(&self) -> bool {
        if self.may_be_replaced {
            self.excused.set(true);
            self.replaced.set(true);
        }
        self.may_be_replaced
    }

    /// The fault is reported, if and only if there is one.
    pub(super) fn check(&self, reported: Option<PolicyFault>) {
        match (self.at_fault.get(), reported) {
            _ if self.excused.get() => {}
            (Some(expected), Some(reported)) => assert!(expected.contains(&reported), "{reported}"),
            (Some(expected), None) => panic!("not reported: {expected:?}"),
            (None, Some(reported)) => panic!("reported without reason: {reported}"),
            (None, None) => {}
        }
    }

    /// Whether a task has not ended; none if that is not known.
    fn is_alive(&self, owed: &Owed) -> Option<bool> {
        Some(!self.ended.borrow().contains(&owed.name?))
    }

    fn is_at_fault(&self, expected: &'static [PolicyFault]) {
        let _ = self.at_fault.set(expected);
    }

    /// The byte of the misdeed, if it is time for one.
    fn due(&self) -> Option<u8> {
        let (left, misdeed) = self.next.get()?;
        let is_due = left == 0;
        self.next.set(if is_due { draw(&self.plan) } else { Some((left - 1, misdeed)) });
        is_due.then_some(misdeed)
    }

    /// A misdeed that is open to every method: it panics, or does something that tasks do.
    fn any(&self, misdeed: u8) {
        if misdeed < 128 {
            self.is_at_fault(PANICKED);
            panic_as_meant();
        }
        self.excused.set(true);
        let Some(run) = Clockworker::current().filter(|run| !run.finishing.get()) else { return };
        let mut grammar = Grammar::new(Kind::Hostile, &self.plan, self.names.get());
        let op = grammar.op(1);
        self.names.set(grammar.names);
        calling_back(|| run.act(Actor::Scheduler, None, &op));
    }
}

/// After how many calls it does the next wrong, and which.
fn draw(plan: &Tape) -> Option<(u8, u8)> {
    let delay = plan.try_next()?;
    Some((delay % 64, plan.byte()))
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

impl Plan for Rc<Hostility> {
    fn begin(&self, call: Call) {
        // One too many for a scheduler that was found at fault. (One that is replaced gives out all that it has first.)
        assert!(self.at_fault.get().is_none() || self.replaced.get(), "called after a fault");
        let due = if self.only_in.is_none_or(|only| only == call) { self.due() } else { None };
        let misdeed = due.unwrap_or(0);
        self.misdeed.set(due.and_then(|misdeed| with_tasks(call, misdeed)));
        self.lie.set(due.filter(|&misdeed| misdeed < 128));
        match call {
            _ if due.is_none() => {}
            Call::Push | Call::Pop | Call::PushPop | Call::Peek if misdeed < 128 => {}
            Call::Push | Call::Pop | Call::PushPop | Call::Peek => {
                self.any(misdeed << 1);
                if call == Call::PushPop {
                    self.misdeed.set(with_tasks(Call::Pop, misdeed << 1 & 127));
                }
            }
            _ => self.any(misdeed),
        }
    }

    fn does(&self, misdeed: Misdeed, _ready: usize) -> bool {
        self.misdeed.get() == Some(misdeed)
    }

    fn peeks(&self, _ahead: usize) -> Option<TaskId> {
        self.lie.get().map(|lie| TaskId::new(u32::MAX >> (lie % 32), lie.into()))
    }

    /// What is pushed is owed.
    fn pushed(&self, task: Task, why: Ready) {
        let (id, slot) = (task.id, task.id.slot());
        let mut slots = self.slots.borrow_mut();
        if why == Ready::Spawned {
            let is_known = |name| slots.values().any(|(_, known)| *known == Some(name));
            let name = being_spawned().filter(|&name| !is_known(name));
            assert_eq!(slots.insert(slot, (id, name)), None, "spawned in a slot that is taken");
        }
        let known = slots.get(&slot).filter(|(known, _)| *known == id);
        let Some(&(_, name)) = known else { panic!("pushed {id:?}, which was not spawned") };
        let mut owed = self.owed.borrow_mut();
        assert!(owed.iter().all(|owed| owed.id != id), "pushed twice");
        owed.push(Owed { id, name });
    }

    /// Notes whether what is given out is right.
    fn gave(&self, id: Option<TaskId>) {
        let mut owed = self.owed.borrow_mut();
        match id {
            Some(id) => match owed.iter().position(|owed| owed.id == id) {
                Some(place) => drop(owed.swap_remove(place)),
                None => self.is_at_fault(NOT_READY),
            },
            None if owed.iter().any(|owed| self.is_alive(owed) == Some(true)) => self.is_at_fault(LOST),
            None if owed.iter().any(|owed| self.is_alive(owed).is_none()) => self.excused.set(true),
            None => {}
        }
    }

    fn finished(&self, task: Task) {
        self.slots.borrow_mut().remove(&task.id.slot());
    }

    fn dropped(&self) {
        if self.panics_in_drop {
            panic_as_meant();
        }
    }
}
