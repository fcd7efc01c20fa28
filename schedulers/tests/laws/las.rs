//! The order of `Las`, from its documentation alone.

use core::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use clockworker_schedulers::laws::{Candidate, Moment};
use clockworker_schedulers::{GroupId, Ready};

use super::turns_model::TurnsModel;

/// The turn of a group that had one ready task when it was popped in order.
struct LasTurn {
    group: GroupId,
    /// What it had attained when the turn began.
    from_ns: u64,
    polls: u32,
}

/// Which task `Las` is to pop.
struct LasModel {
    resolution_ns: u64,
    turns: TurnsModel,
    /// Number of the last task to become ready.
    newest: u64,
    /// When each group was last popped from: after which task became ready, and the number of the pop.
    popped: HashMap<GroupId, (u64, u64)>,
    /// The group popped last, if no other task of it was ready.
    emptied: Option<GroupId>,
    /// The turn that no other group has ended by being popped in order.
    turn: Option<LasTurn>,
    /// The group that waits at the head of its bucket for the rest of its turn, for which of its tasks.
    waits: Option<(GroupId, u64)>,
    /// The group of the last fair turn.
    cursor: usize,
}

impl LasModel {
    fn new(resolution_ns: u64, every: i64) -> Self {
        Self {
            resolution_ns,
            turns: TurnsModel::new(every),
            newest: 0,
            popped: HashMap::new(),
            emptied: None,
            turn: None,
            waits: None,
            cursor: 0,
        }
    }

    /// What the bucket begins with: the seven leading bits, but no finer than the resolution.
    fn bucket(&self, attained_ns: u64) -> u64 {
        let width = (1_u64 << attained_ns.max(1).ilog2() >> 6).max(self.resolution_ns);
        attained_ns / width * width
    }

    /// Where a group is in its bucket: at the head for the rest of its turn; else at the tail since its last pop or the end of its
    /// turn, or since its foremost task became ready after that.
    fn place(&self, foremost: &Candidate) -> (bool, (u64, u64)) {
        let popped = self.popped.get(&foremost.group).copied().unwrap_or_default();
        let waits = self.waits == Some((foremost.group, foremost.became_ready));
        (!waits, popped.max((foremost.became_ready, 0)))
    }

    fn has_its_turn(&self, task: &Candidate) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.group == task.group
                && turn.polls < 16
                && task.attained_ns - turn.from_ns < self.resolution_ns
                && self.bucket(task.attained_ns) == self.bucket(turn.from_ns)
        })
    }

    fn expected(&mut self, moment: &Moment<'_>) -> Candidate {
        let mut foremost = BTreeMap::<usize, Candidate>::new();
        for task in moment.ready {
            let first = foremost.entry(task.group.index()).or_insert(*task);
            if task.became_ready < first.became_ready {
                *first = *task;
            }
        }
        if let Some(first) = self.emptied.and_then(|group| foremost.get(&group.index()))
            && first.why == Ready::Yielded
            && self.has_its_turn(first)
        {
            self.waits = Some((first.group, first.became_ready));
        }
        if self.turns.is_fair(moment) {
            let next = foremost.range(self.cursor + 1..).chain(&foremost).next();
            self.cursor = *next.unwrap().0;
            let first = *next.unwrap().1;
            self.turn.take_if(|turn| turn.group == first.group);
            self.waits.take_if(|(group, _)| *group == first.group);
            return first;
        }
        let first =
            *foremost.values().min_by_key(|task| (self.bucket(task.attained_ns), self.place(task))).unwrap();
        self.pop_in_order(&first, moment);
        first
    }

    fn pop_in_order(&mut self, first: &Candidate, moment: &Moment<'_>) {
        if let Some((group, _)) = self.waits.take()
            && group != first.group
        {
            self.popped.insert(group, (self.newest, moment.pops));
        }
        // A group that has attained nothing is a new one.
        let lasts = first.attained_ns > 0 && self.has_its_turn(first);
        match &mut self.turn {
            _ if !is_alone(first, moment) => self.turn = None,
            Some(turn) if lasts => turn.polls += 1,
            _ => self.turn = Some(LasTurn { group: first.group, from_ns: first.attained_ns, polls: 1 }),
        }
    }

    fn allows(&mut self, moment: &Moment<'_>) -> bool {
        if moment.pops == 1 {
            *self = Self::new(self.resolution_ns, self.turns.every()); // another load, a fresh policy
        }
        let newest = moment.ready.iter().map(|task| task.became_ready).max();
        self.newest = self.newest.max(newest.unwrap());
        let expected = self.expected(moment);
        self.popped.insert(expected.group, (self.newest, moment.pops));
        self.emptied = is_alone(&expected, moment).then_some(expected.group);
        moment.popped == expected
    }
}

/// Whether no other task of its group is ready.
fn is_alone(task: &Candidate, moment: &Moment<'_>) -> bool {
    moment.ready.iter().filter(|other| other.group == task.group).count() == 1
}

/// The law that each pop be the one that the model expects.
pub(crate) fn las_order(resolution_ns: u64, every: i64) -> impl Fn(&Moment<'_>) -> bool {
    let model = RefCell::new(LasModel::new(resolution_ns, every));
    move |moment| model.borrow_mut().allows(moment)
}
