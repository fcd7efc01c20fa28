//! The order of `Serpt`: by rank, which it learns.

use core::cell::RefCell;
use std::rc::Rc;

use clockworker_schedulers::laws::{Laws, Moment};
use clockworker_schedulers::{Gone, GroupId, Ready, Scheduler, Serpt, Served, Task, TaskId};

use super::SEEDS;

/// A `Serpt` that can be asked for ranks while it is under the laws.
#[derive(Clone)]
struct Watched(Rc<RefCell<Watch>>);

struct Watch {
    serpt: Serpt,
    /// How often a task became ready.
    pushes: u64,
    /// The same when a rank last changed.
    pushes_at_change: u64,
    /// How often one changed.
    changes: u64,
}

impl Watched {
    fn new(serpt: Serpt) -> Self {
        Self(Rc::new(RefCell::new(Watch { serpt, pushes: 0, pushes_at_change: 0, changes: 0 })))
    }

    /// The least rank goes first, of all that became ready since the ranks last changed.
    fn allows(&self, moment: &Moment<'_>) -> bool {
        let watch = self.0.borrow();
        let placed = moment.ready.iter().filter(|task| task.became_ready >= watch.pushes_at_change);
        let least = placed.map(|task| watch.rank(task.group)).min();
        least.is_none_or(|least| watch.rank(moment.popped.group) <= least)
    }
}

impl Watch {
    fn rank(&self, group: GroupId) -> u32 {
        self.serpt.rank_at(self.serpt.attained_ns(group))
    }

    /// The rank of each level, told by groups that have attained 0, 1, 2, 4 ns and so on.
    fn ranks(&self) -> Vec<u32> {
        (0..64).map(|level| self.serpt.rank_at(if level == 0 { 0 } else { 1 << (level - 1) })).collect()
    }

    fn learn(&mut self, teach: impl FnOnce(&mut Serpt)) {
        let before = self.ranks();
        teach(&mut self.serpt);
        if self.ranks() != before {
            (self.pushes_at_change, self.changes) = (self.pushes, self.changes + 1);
        }
    }
}

impl Scheduler for Watched {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.borrow_mut().pushes += 1;
        self.0.borrow_mut().serpt.push(task, why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.0.borrow_mut().serpt.pop()
    }
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.0.borrow_mut().pushes += 1;
        self.0.borrow_mut().serpt.push_pop(task)
    }
    fn served(&mut self, served: Served, now_ns: u64) {
        self.0.borrow_mut().learn(|serpt| serpt.served(served, now_ns));
    }
    fn gone(&mut self, gone: Gone) {
        self.0.borrow_mut().learn(|serpt| serpt.gone(gone));
    }
}

/// `Serpt` under the law of its order. `make` makes one that learns fast, so that ranks change while tasks wait.
pub(crate) fn serpt_by_rank(make: fn() -> Serpt, fair: impl Fn(&Moment<'_>) -> bool) {
    // Two are made for each load, and the first is the one that is judged.
    let made = RefCell::new(Vec::new());
    let watched = || {
        made.borrow_mut().push(Watched::new(make()));
        made.borrow().last().unwrap().clone()
    };
    for seed in SEEDS {
        let judged = |moment: &Moment<'_>| made.borrow().iter().nth_back(1).unwrap().allows(moment);
        let laws = Laws::new(watched).seed(seed).steps(4_000).may_starve();
        let laws = laws.order(|moment| fair(moment) || judged(moment));
        laws.check().unwrap_or_else(|broken| panic!("Serpt by rank: {broken}"));
    }
    let changes: u64 = made.borrow().iter().map(|watched| watched.0.borrow().changes).sum();
    assert!(changes > 100, "ranks changed {changes} times only");
}
