//! How ops are made of bytes.

use std::sync::Arc;

use super::op::{Change, GROUPS, GroupChange, Limit, On, Op, Rest, SLOTS, Script, TaskName, Thread, Wait};
use super::program::Kind;
use crate::policy::Policy;
use crate::tape::Tape;

/// How deep tasks spawn tasks.
const DEPTH: u32 = 3;
/// How many names an op may refer to: few, so that most are there. The last that were given, and some to come.
const NAMES: u8 = 24;
const NAMES_GIVEN: TaskName = 18;
/// Steps of a task, and of its children's each.
const STEPS: u8 = 8;
/// Of slots and of ops, how many the reference knows.
const KNOWN_SLOTS: u8 = 4;
const KNOWN_OPS: u8 = 52;
const ALL_OPS: u8 = 100;
/// With many yields, as a hostile scheduler needs something to choose from.
const HOSTILE_OPS: u8 = 128;

/// Which ops there are, decided by a tape.
pub(super) struct Grammar<'a> {
    tape: &'a Tape,
    kind: Kind,
    /// How many names were given.
    pub(super) names: TaskName,
}

impl<'a> Grammar<'a> {
    pub(super) fn new(kind: Kind, tape: &'a Tape, names: TaskName) -> Self {
        Self { tape, kind, names }
    }

    /// The steps of a program. From outside tasks are spawned and run more often than all else.
    pub(super) fn program(&mut self) -> Vec<Op> {
        let mut ops = Vec::new();
        while !self.tape.is_over() {
            let op = match self.tape.below(16) {
                0..=3 => Op::Park,
                4..=7 => self.spawn(DEPTH),
                8 | 9 => Op::Yield(1),
                10 => {
                    let acts = self.few_ops();
                    match self.tape.below(2) {
                        0 => Op::Main(acts),
                        _ => Op::Cut { acts, visits: self.few_ops() },
                    }
                }
                _ => self.op(DEPTH),
            };
            self.push(&mut ops, op);
        }
        ops
    }

    fn few_ops(&mut self) -> Vec<Op> {
        let count = 1 + self.tape.below(4);
        self.ops(count, 1)
    }

    fn ops(&mut self, count: u8, depth: u32) -> Vec<Op> {
        let mut ops = Vec::new();
        for _ in 0..count {
            let op = self.op(depth);
            self.push(&mut ops, op);
        }
        ops
    }

    /// Some tasks are aborted when they have just been woken or spawned, and some are awaited at once.
    fn push(&self, ops: &mut Vec<Op>, op: Op) {
        let tape = self.tape;
        let next = match &op {
            Op::Spawn(_, script) if tape.below(4) == 1 => Some(Op::Join(script.name)),
            // What the drop of a new task holds up the reference does not know.
            Op::Spawn(On::Elsewhere(..), script) if self.kind != Kind::Compared => {
                Some(self.abort(script.name))
            }
            Op::Wake(of, _) => Some(self.abort(*of)),
            _ => None,
        };
        ops.push(op);
        ops.extend(next.filter(|next| matches!(next, Op::Join(_)) || tape.below(8) == 1));
    }

    fn abort(&self, of: TaskName) -> Op {
        Op::Abort(of, if self.tape.below(3) == 0 { Thread::Other } else { Thread::Owner })
    }

    /// One op, with tasks that spawn tasks so deep.
    pub(super) fn op(&mut self, depth: u32) -> Op {
        let tape = self.tape;
        let choices = match self.kind {
            Kind::Compared => KNOWN_OPS,
            Kind::Everything => ALL_OPS,
            Kind::Hostile => HOSTILE_OPS,
        };
        match tape.below(choices) {
            0..=7 => Op::Yield(1 + tape.below(3)),
            8..=12 => Op::Park,
            13..=16 => Op::Join(self.name()),
            17 => Op::Panic,
            18..=20 => Op::Work(u16::from(tape.byte()) * 3),
            21..=25 => Op::Wake(self.name(), Thread::Owner),
            26..=29 => Op::Wake(self.name(), Thread::Other),
            30 => Op::DropWaker(self.name()),
            31..=39 if depth > 0 => self.spawn(depth),
            31..=39 => Op::Wake(self.name(), Thread::Owner),
            40 | 41 => Op::Abort(self.name(), Thread::Owner),
            42 => Op::Abort(self.name(), Thread::Other),
            43 | 44 => Op::DropHandle(self.name(), Thread::Owner),
            45 => Op::DropHandle(self.name(), Thread::Other),
            46..=48 => Op::Queue(self.slot(), self.create()),
            49 => Op::Queue(self.slot(), Change::Share(self.share())),
            50 => Op::Queue(self.slot(), Change::Scheduler(self.policy())),
            51 => Op::Queue(self.slot(), Change::Close),
            52..=58 => Op::Queue(self.slot(), self.change()),
            59..=67 => Op::Group(tape.below(GROUPS), self.change_of_group()),
            68..=83 => Op::Wait(self.wait(depth)),
            84..=87 => {
                let touch = tape.below(4);
                Op::TouchHandle { of: self.name(), in_wake: touch & 1 > 0, in_drop: touch & 2 > 0 }
            }
            88..=95 if depth > 0 => self.spawn(depth),
            96..=99 => Op::Move(self.name(), tape.below(SLOTS)),
            _ => Op::Yield(1 + tape.below(60)),
        }
    }

    fn change(&self) -> Change {
        let tape = self.tape;
        match tape.below(8) {
            0 => Change::OwnScheduler(self.policy()),
            1 => Change::Rename(self.slot()),
            2 => Change::Request(1 + u16::from(tape.byte()) * 12),
            3 => Change::AbortAll,
            _ => Change::Limit(match tape.below(8) {
                0 => Limit::Live(1 + tape.below(9)),
                1 | 2 => Limit::LivePerGroup(1 + tape.below(3)),
                3 | 4 => Limit::Cap(1 + tape.below(100)),
                _ => Limit::None,
            }),
        }
    }

    fn change_of_group(&self) -> GroupChange {
        let tape = self.tape;
        match tape.below(16) {
            0 => GroupChange::AbortAll,
            1 | 2 => GroupChange::Weight(1 + tape.below(100)),
            3..=5 => GroupChange::Forget,
            _ => {
                GroupChange::Open { slot: tape.below(SLOTS), key: tape.below(10), weight: 1 + tape.below(10) }
            }
        }
    }

    fn wait(&mut self, depth: u32) -> Wait {
        let tape = self.tape;
        match tape.below(16) {
            0..=6 => Wait::Thread,
            7..=9 if depth > 0 => Wait::Room(self.slot(), self.script(depth - 1)),
            7..=13 => Wait::Set {
                first: self.name(),
                tasks: tape.below(6),
                awaited: tape.below(6),
                rest: [Rest::Detached, Rest::Aborted, Rest::Dropped][usize::from(tape.below(3))],
            },
            14 => Wait::Moved(tape.below(SLOTS)),
            _ => Wait::Retired(self.slot(), tape.below(20)),
        }
    }

    fn create(&self) -> Change {
        let (share, policy) = (self.share(), self.policy());
        let nested = self.kind != Kind::Compared && self.tape.below(2) == 0;
        let below = nested.then(|| self.tape.below(SLOTS));
        let idle = self.kind != Kind::Compared && self.tape.below(16) == 1;
        Change::Create { below, share, policy, idle }
    }

    /// The first one rarely: it is there anyway, and most is spawned in it.
    fn slot(&self) -> u8 {
        self.tape.below(if self.kind == Kind::Compared { 16 } else { 32 }).div_ceil(5)
    }

    /// Most are alike, some are far from the others.
    fn share(&self) -> u32 {
        let share = 1 + u32::from(self.tape.below(16));
        if share == 16 { 1_000 } else { share }
    }

    fn policy(&self) -> Policy {
        let one = usize::from(self.tape.below(14));
        Policy::ALL.get(one).copied().unwrap_or(Policy::RunnableFifo)
    }

    fn name(&self) -> TaskName {
        self.names.saturating_sub(NAMES_GIVEN) + TaskName::from(self.tape.below(NAMES))
    }

    fn spawn(&mut self, depth: u32) -> Op {
        let tape = self.tape;
        let (choices, slots) = match self.kind {
            Kind::Compared => (8, KNOWN_SLOTS),
            Kind::Everything => (14, SLOTS),
            Kind::Hostile => (24, SLOTS),
        };
        let on = match tape.below(choices) {
            0..=3 => On::Beside,
            4 | 5 => On::Queue(tape.below(slots)),
            6 => On::Elsewhere(0, None),
            7 => On::Elsewhere(tape.below(slots), None),
            8..=10 => On::Group(tape.below(GROUPS)),
            11 | 12 => On::Try(tape.below(slots)),
            13 => On::Elsewhere(tape.below(slots), Some(tape.below(10))),
            // Where the hostile scheduler is.
            _ => On::Queue(1),
        };
        Op::Spawn(on, self.script(depth - 1))
    }

    fn script(&mut self, depth: u32) -> Arc<Script> {
        let name = self.names;
        self.names = self.names.saturating_add(1);
        let (kind, steps) = (self.tape.below(16), self.tape.below(STEPS));
        let steps = self.ops(steps, depth);
        let mut at_drop = Vec::new();
        match kind {
            // What destructors can do elsewhere, or abort, is decided by where a slice ends: the reference does not know that.
            9 | 14 if self.kind != Kind::Compared => at_drop.push(self.op(depth)),
            12 | 13 | 15 => at_drop.push(Op::Wake(self.name(), Thread::Owner)),
            14 if depth > 0 => {
                at_drop.push(Op::Spawn(On::Queue(self.tape.below(KNOWN_SLOTS)), self.script(depth - 1)));
            }
            _ => {}
        }
        if matches!(kind, 11 | 15) {
            at_drop.push(Op::Panic);
        }
        Arc::new(Script { name, steps, at_drop, output_panics: kind == 10 })
    }
}
