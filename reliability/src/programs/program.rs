//! Programs, and how they are made of bytes.

use std::fmt;
use std::sync::Arc;

use super::op::{On, Op, Order, SLOTS, Script, TaskName};
use super::random::Random;

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
const BYTES: usize = 200;

impl Program {
    /// The program that these bytes spell. All bytes spell one, and more bytes a longer one.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut names = Numbering::default();
        let mut rest = Bytes(bytes);
        let mut ops = Vec::new();
        while !rest.0.is_empty() {
            ops.push(op(&mut rest, &mut names, DEPTH));
        }
        Program { ops }
    }

    /// A random program.
    pub fn from_seed(seed: u64) -> Self {
        Self::from_bytes(&bytes_of(seed))
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

/// Gives the tasks their names. Who makes ops one by one keeps one for all of them.
#[derive(Clone, Debug, Default)]
pub struct Numbering(TaskName);

impl Numbering {
    /// The op that these bytes begin with.
    pub fn op(&mut self, bytes: &[u8]) -> Op {
        op(&mut Bytes(bytes), self, DEPTH)
    }

    fn next(&mut self) -> TaskName {
        let name = self.0;
        self.0 = self.0.saturating_add(1);
        name
    }
}

/// What is still to be read. Zeros follow its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    fn below(&mut self, end: u8) -> u8 {
        self.next() % end
    }

    fn name(&mut self) -> TaskName {
        TaskName::from(self.below(NAMES))
    }
}

fn op(bytes: &mut Bytes<'_>, names: &mut Numbering, depth: u32) -> Op {
    match bytes.below(40) {
        0..=3 => Op::Yield(1 + bytes.below(3)),
        4..=7 => Op::Park,
        8..=10 => Op::Join(bytes.name()),
        11 => Op::Panic,
        12..=14 => Op::Work(u16::from(bytes.next()) * 3),
        15..=17 => Op::Wake(bytes.name()),
        18 | 19 => Op::WakeElsewhere(bytes.name()),
        20 => Op::DropWakerElsewhere(bytes.name()),
        21..=28 if depth > 0 => {
            Op::Spawn { on: on(bytes), script: Arc::new(script(bytes, names, depth - 1)) }
        }
        21..=28 => Op::Wake(bytes.name()),
        29 | 30 => Op::Abort(bytes.name()),
        31 => Op::AbortElsewhere(bytes.name()),
        32 | 33 => Op::DropHandle(bytes.name()),
        34 => Op::DropHandleElsewhere(bytes.name()),
        35 | 36 => Op::Create { slot: bytes.below(SLOTS), share: share(bytes), order: order(bytes) },
        37 | 38 => Op::Share { slot: bytes.below(SLOTS), share: share(bytes) },
        _ => Op::Close(bytes.below(SLOTS)),
    }
}

fn share(bytes: &mut Bytes<'_>) -> u32 {
    1 + u32::from(bytes.below(16))
}

fn on(bytes: &mut Bytes<'_>) -> On {
    let slot = bytes.next();
    match slot / SLOTS % 4 {
        0 | 1 => On::Beside,
        2 => On::Queue(slot % SLOTS),
        _ => On::Elsewhere(slot % SLOTS),
    }
}

fn order(bytes: &mut Bytes<'_>) -> Order {
    match bytes.below(8) {
        4 => Order::Arrival,
        5 => Order::Las,
        6 => Order::Qlas,
        7 => Order::Serpt,
        _ => Order::Fifo,
    }
}

fn script(bytes: &mut Bytes<'_>, names: &mut Numbering, depth: u32) -> Script {
    let mut script = Script { name: names.next(), ..Script::default() };
    let kind = bytes.below(16);
    script.output_panics = kind == 10;
    script.panics_at_drop = matches!(kind, 11 | 15);
    if matches!(kind, 12 | 13 | 15) {
        script.wakes_at_drop = Some(bytes.name());
    }
    let steps = bytes.below(STEPS);
    script.steps = (0..steps).map(|_| op(bytes, names, depth)).collect();
    if kind == 14 && depth > 0 {
        let slot = bytes.below(SLOTS);
        script.spawns_at_drop = Some((slot, Arc::new(self::script(bytes, names, depth - 1))));
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
