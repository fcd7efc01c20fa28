//! Programs, and how they are made of bytes.

use std::fmt;
use std::sync::Arc;

use super::op::{On, Op, SLOTS, Script, TaskName};
use crate::policy::Policy;
use crate::random::Random;
use crate::tape::Tape;

/// A program: what is done from outside, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Its steps.
    pub ops: Vec<Op>,
}

/// How deep tasks spawn tasks.
const DEPTH: u32 = 3;
/// Names that ops may refer to: few, so that most are there.
const NAMES: u8 = 24;
/// Steps of a task, and of its children's each.
const STEPS: u8 = 8;
/// Bytes of a random program.
const BYTES: usize = 300;

impl Program {
    /// The program that these bytes spell. All bytes spell one, and more bytes a longer one.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut names = Numbering::default();
        let tape = Tape::new(bytes);
        let mut ops = Vec::new();
        while !tape.is_over() {
            ops.push(outer(&tape, &mut names));
        }
        Program { ops }
    }

    /// A random program.
    pub fn from_seed(seed: u64) -> Self {
        Self::from_bytes(&bytes_of(seed))
    }

    /// A random program of so many bytes.
    pub fn of_length(seed: u64, bytes: usize) -> Self {
        Self::from_bytes(&Random::new(seed).bytes(bytes))
    }

    /// The program of that seed with as many bytes left out as can be, so that it still `fails`.
    pub fn shrunk(seed: u64, fails: impl Fn(&Program) -> bool) -> Self {
        let mut bytes = bytes_of(seed);
        let mut part = bytes.len();
        while part > 0 {
            let mut at = 0;
            while at < bytes.len() {
                let mut fewer = bytes.clone();
                fewer.drain(at..bytes.len().min(at + part));
                if fails(&Self::from_bytes(&fewer)) {
                    bytes = fewer;
                } else {
                    at += part;
                }
            }
            part /= 2;
        }
        Self::from_bytes(&bytes)
    }
}

fn bytes_of(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let length = 1 + random.below(BYTES);
    random.bytes(length)
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ops.iter().try_for_each(|op| writeln!(f, "  {op:?}"))
    }
}

/// Gives tasks their names. Who makes ops one by one keeps one for all of them.
#[derive(Clone, Debug, Default)]
pub struct Numbering(TaskName);

impl Numbering {
    /// How many names were given.
    pub fn given(&self) -> TaskName {
        self.0
    }

    /// Gives the op's tasks, which are named anyhow, the next names.
    pub fn rename(&mut self, mut op: Op) -> Op {
        self.rename_in(&mut op);
        op
    }

    /// Counts the op's names, which [`rename`](Numbering::rename) gave, as given.
    pub fn skip_past(&mut self, op: &Op) {
        self.rename(op.clone());
    }

    fn rename_in(&mut self, op: &mut Op) {
        if let Op::Spawn { script, .. } = op {
            self.rename_script(script);
        }
    }

    fn rename_script(&mut self, script: &mut Arc<Script>) {
        let script = Arc::make_mut(script);
        script.name = self.next();
        script.steps.iter_mut().for_each(|op| self.rename_in(op));
        script.spawns_at_drop.iter_mut().for_each(|(_, child)| self.rename_script(child));
    }

    fn next(&mut self) -> TaskName {
        let name = self.0;
        self.0 = self.0.saturating_add(1);
        name
    }
}

fn name(tape: &Tape) -> TaskName {
    TaskName::from(tape.below(NAMES))
}

/// From outside tasks are spawned and run more often than all else.
fn outer(tape: &Tape, names: &mut Numbering) -> Op {
    match tape.below(8) {
        0 | 1 => Op::Park,
        2 | 3 => Op::Spawn { on: on(tape), script: Arc::new(script(tape, names, DEPTH - 1)) },
        4 => Op::Yield(1),
        _ => op(tape, names, DEPTH),
    }
}

fn op(tape: &Tape, names: &mut Numbering, depth: u32) -> Op {
    match tape.below(52) {
        0..=7 => Op::Yield(1 + tape.below(3)),
        8..=12 => Op::Park,
        13..=16 => Op::Join(name(tape)),
        17 => Op::Panic,
        18..=20 => Op::Work(u16::from(tape.byte()) * 3),
        21..=25 => Op::Wake(name(tape)),
        26..=29 => Op::WakeElsewhere(name(tape)),
        30 => Op::DropWakerElsewhere(name(tape)),
        31..=39 if depth > 0 => Op::Spawn { on: on(tape), script: Arc::new(script(tape, names, depth - 1)) },
        31..=39 => Op::Wake(name(tape)),
        40 | 41 => Op::Abort(name(tape)),
        42 => Op::AbortElsewhere(name(tape)),
        43 | 44 => Op::DropHandle(name(tape)),
        45 => Op::DropHandleElsewhere(name(tape)),
        46..=48 => Op::Create { slot: slot(tape), share: share(tape), policy: policy(tape) },
        49 => Op::Share { slot: slot(tape), share: share(tape) },
        50 => Op::Scheduler { slot: slot(tape), policy: policy(tape) },
        _ => Op::Close(slot(tape)),
    }
}

/// The first one rarely: it is there anyway, and most is spawned in it.
fn slot(tape: &Tape) -> u8 {
    tape.below(16).div_ceil(5)
}

fn share(tape: &Tape) -> u32 {
    1 + u32::from(tape.below(16))
}

fn on(tape: &Tape) -> On {
    match tape.below(8) {
        0..=3 => On::Beside,
        4 | 5 => On::Queue(tape.below(SLOTS)),
        6 => On::Elsewhere(0),
        _ => On::Elsewhere(tape.below(SLOTS)),
    }
}

fn policy(tape: &Tape) -> Policy {
    match tape.below(8) {
        3 => Policy::WokenFirst,
        4 => Policy::ArrivalFifo,
        5 => Policy::Las,
        6 => Policy::Qlas,
        7 => Policy::Serpt,
        _ => Policy::RunnableFifo,
    }
}

fn script(tape: &Tape, names: &mut Numbering, depth: u32) -> Script {
    let mut script = Script { name: names.next(), ..Script::default() };
    let kind = tape.below(16);
    script.output_panics = kind == 10;
    script.panics_at_drop = matches!(kind, 11 | 15);
    if matches!(kind, 12 | 13 | 15) {
        script.wakes_at_drop = Some(name(tape));
    }
    let steps = tape.below(STEPS);
    script.steps = (0..steps).map(|_| op(tape, names, depth)).collect();
    if kind == 14 && depth > 0 {
        let slot = tape.below(SLOTS);
        script.spawns_at_drop = Some((slot, Arc::new(self::script(tape, names, depth - 1))));
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shrunk_to_what_fails() {
        let aborts = |program: &Program| program.ops.iter().any(|op| matches!(op, Op::Abort(_)));
        let seed = (0..).find(|&seed| aborts(&Program::from_seed(seed))).unwrap();
        assert_eq!(Program::shrunk(seed, aborts).ops.len(), 1);
    }

    #[test]
    fn all_bytes_spell_a_program_and_a_seed_always_the_same() {
        assert!(Program::from_bytes(&[]).ops.is_empty());
        for seed in 0..1_000 {
            let program = Program::from_seed(seed);
            assert!(!program.ops.is_empty());
            assert_eq!(program, Program::from_seed(seed));
        }
        for byte in 0..=u8::MAX {
            assert!(!Program::from_bytes(&vec![byte; 4_096]).ops.is_empty());
        }
    }
}
