//! The kit must bite: each policy here breaks one law, and must be caught with that law.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use super::*;
use crate::{Attributes, ClockUse, Gone, RunnableFifo, Served, Subject, Task};

/// FIFO, except for what `Fault` says.
#[derive(Default)]
struct Faulty {
    ready: VecDeque<TaskId>,
    fault: Fault,
    calls: u64,
    /// Since the last push.
    pops_in_a_row: u64,
    last: Option<TaskId>,
    /// A task that finished.
    dead: Option<TaskId>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    /// Forgets a push now and then.
    Loses,
    /// Forgets the wakes of one slot after a while.
    LosesWakes,
    /// Gives the same task again.
    Repeats,
    /// Gives a task that never was.
    Invents,
    /// Gives a task of a slot in use, but from the future.
    InventsGeneration,
    /// Gives a finished task.
    Stale,
    /// Says it is empty now and then.
    Lies,
    /// Gives the newest first.
    Starves,
    /// Gives the second where there is one, at times.
    Swaps,
    /// Lets a task that yields go on, at times, though others are before it.
    GoesOn,
    /// Takes it that only the task popped last is served: gives up another, whose future was dropped.
    GivesUp,
    /// Keeps one back when all are taken out, which an executor does to a policy that others replace.
    KeepsOne,
}

impl Faulty {
    fn with(fault: Fault) -> Self {
        Self { fault, ..Self::default() }
    }

    fn last_sleeps(&self) -> bool {
        self.last != self.dead && self.last.is_some_and(|last| !self.ready.contains(&last))
    }

    fn pop_faulty(&mut self) -> Option<TaskId> {
        match self.fault {
            Fault::Repeats if self.last_sleeps() => self.last,
            Fault::Invents => Some(TaskId::new(9_999, 0)),
            Fault::InventsGeneration => self.last.map(|id| TaskId::new(0, id.generation() + 1_000)),
            Fault::Stale if self.dead.is_some() => self.dead,
            Fault::Lies => None,
            Fault::Swaps if self.ready.len() > 1 => self.ready.remove(1),
            _ => self.ready.pop_front(),
        }
    }
}

impl Scheduler for Faulty {
    fn push(&mut self, task: Task, why: Ready) {
        self.calls += 1;
        self.pops_in_a_row = 0;
        let loses = match self.fault {
            Fault::Loses => self.calls.is_multiple_of(500),
            Fault::LosesWakes => self.calls > 500 && why == Ready::Woken && task.id.slot() == 1,
            _ => false,
        };
        if !loses {
            self.ready.push_back(task.id);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.calls += 1;
        self.pops_in_a_row += 1;
        let popped = match self.fault {
            Fault::Starves => self.ready.pop_back(),
            Fault::KeepsOne if self.ready.len() == 1 && self.pops_in_a_row > 8 => None,
            _ if self.calls.is_multiple_of(501) => self.pop_faulty(),
            _ => self.ready.pop_front(),
        };
        self.last = popped.or(self.last);
        popped
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        if self.fault == Fault::GoesOn && self.calls.is_multiple_of(501) {
            return Some(task.id);
        }
        self.push(task, Ready::Yielded);
        self.pop()
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        if let Served::Task { task, .. } = served
            && self.fault == Fault::GivesUp
            && self.last != Some(task.id)
        {
            self.ready.retain(|id| *id != task.id);
        }
    }

    fn gone(&mut self, gone: Gone) {
        if let Gone::Task(task) = gone {
            self.dead = Some(task.id);
        }
    }
}

fn broken(fault: Fault) -> Broken {
    let in_order = |moment: &Moment<'_>| {
        moment.ready.iter().all(|other| other.became_ready >= moment.popped.became_ready)
    };
    let laws = Laws::new(|| Faulty::with(fault));
    // Order is judged only where it is the point: most faults upset it first.
    let laws = if fault == Fault::Swaps { laws.order(in_order) } else { laws };
    laws.check().expect_err("the fault must be seen")
}

#[test]
fn a_policy_without_faults_passes() {
    let report = Laws::new(Faulty::default).check().unwrap();
    assert!(report.pops > 50_000 && report.spawned > 10_000 && report.groups_closed > 1_000, "{report:?}");
}

#[test]
fn losing_a_task_is_seen() {
    assert_eq!(broken(Fault::Loses).law(), Law::NothingLost);
    assert_eq!(broken(Fault::LosesWakes).law(), Law::NothingLost);
}

#[test]
fn a_loss_at_the_very_end_is_seen() {
    // Loses a task that is pushed so late that only the last pops of all can miss it.
    let lossy = || Faulty { calls: 498, fault: Fault::Loses, ..Faulty::default() };
    let caught = Laws::new(lossy).steps(3).may_starve().check().unwrap_err();
    assert_eq!(caught.law(), Law::NothingLost);
}

#[test]
fn popping_twice_is_seen() {
    assert_eq!(broken(Fault::Repeats).law(), Law::NothingTwice);
}

#[test]
fn inventing_a_task_is_seen() {
    assert_eq!(broken(Fault::Invents).law(), Law::NothingInvented);
    assert_eq!(broken(Fault::Invents).task(), TaskId::new(9_999, 0));
    assert_eq!(broken(Fault::InventsGeneration).law(), Law::NothingInvented);
}

#[test]
fn popping_a_finished_task_is_seen() {
    assert_eq!(broken(Fault::Stale).law(), Law::NothingStale);
}

#[test]
fn none_while_tasks_are_ready_is_seen() {
    assert_eq!(broken(Fault::Lies).law(), Law::NoneIfEmpty);
}

#[test]
fn starving_a_task_is_seen() {
    assert_eq!(broken(Fault::Starves).law(), Law::BoundedWait);
}

#[test]
fn starving_may_be_allowed() {
    assert!(Laws::new(|| Faulty::with(Fault::Starves)).may_starve().check().is_ok());
}

#[test]
fn the_wrong_order_is_seen() {
    assert_eq!(broken(Fault::Swaps).law(), Law::Order);
}

#[test]
fn a_short_cut_that_leads_elsewhere_is_seen() {
    assert_eq!(broken(Fault::GoesOn).law(), Law::Swap);
}

#[test]
fn tasks_that_are_aborted_or_taken_out_are_missed() {
    assert_eq!(broken(Fault::GivesUp).law(), Law::NothingLost);
    assert_eq!(broken(Fault::KeepsOne).law(), Law::NothingLost);
}

/// FIFO that counts what it is told, by the call.
struct Told<'a, const PER_TASK: bool>(RunnableFifo, &'a RefCell<BTreeMap<&'static str, u64>>);

impl<const PER_TASK: bool> Told<'_, PER_TASK> {
    fn count(&self, call: &'static str) {
        *self.1.borrow_mut().entry(call).or_default() += 1;
    }
}

impl<const PER_TASK: bool> Scheduler for Told<'_, PER_TASK> {
    const CLOCK: ClockUse = if PER_TASK { ClockUse::PerTask } else { ClockUse::WhenRead };

    fn push(&mut self, task: Task, why: Ready) {
        self.count(match why {
            Ready::Spawned => "spawned",
            Ready::Woken => "woken",
            Ready::Yielded => "yielded",
            Ready::Deferred => "deferred",
        });
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        self.count(match served {
            Served::Task { .. } => "a task's service",
            Served::Queue { ns: 0 } => "the beginning of a slice",
            Served::Queue { .. } => "the queue's service",
        });
    }

    fn said(&mut self, of: Subject, _attributes: &Attributes) {
        match of {
            Subject::NewGroup { .. } => self.count("group_opened"),
            Subject::Group(_) => self.count("group_changed"),
            Subject::Task(_) => self.count("attributes"),
        }
    }

    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(_) => self.count("finished"),
            Gone::Group(_) => self.count("group_closed"),
            Gone::Backlog => self.count("drained"),
        }
    }
}

#[test]
fn all_that_a_policy_may_be_told_it_is_told_often() {
    let told = RefCell::default();
    Laws::new(|| Told::<true>(RunnableFifo::new(), &told)).check().unwrap();
    Laws::new(|| Told::<false>(RunnableFifo::new(), &told)).check().unwrap();
    let told = told.into_inner();
    assert!(told.len() == 13 && told.values().all(|&times| times > 1_000), "{told:?}");
}

#[test]
fn a_bound_that_is_too_tight_is_seen() {
    let caught =
        Laws::new(RunnableFifo::new).waits_at_most(|crowd| crowd.ready as u64 - 1).check().unwrap_err();
    assert_eq!(caught.law(), Law::BoundedWait);
}

#[test]
fn a_seed_replays_and_another_differs() {
    let caught = broken(Fault::Loses);
    assert_eq!(broken(Fault::Loses), caught);
    let replayed = Laws::new(|| Faulty::with(Fault::Loses)).seed(caught.seed()).check().unwrap_err();
    assert_eq!(replayed, caught);
    let reports = [1, 2].map(|seed| Laws::new(RunnableFifo::new).seed(seed).check().unwrap());
    assert_ne!(reports[0], reports[1]);
}

#[test]
fn what_is_broken_is_told_in_full() {
    let broken =
        Broken { law: Law::NothingLost, load: Load::Churn, step: 7, task: TaskId::new(3, 1), seed: 255 };
    assert_eq!(
        broken.to_string(),
        "a task was lost: it is ready, and never popped (task 3.1, load \"churn\", step 7; replay with seed 0xff)"
    );
}
