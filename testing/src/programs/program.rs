//! Programs.

use std::fmt;

use super::grammar::Grammar;
use super::op::{Op, TaskName};
use crate::host::Host;
use crate::hostile::Call;
use crate::tape::Tape;

/// Which programs there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Those that the reference executor can run too.
    Compared,
    /// Those that do everything.
    Everything,
    /// Those that do everything beside a queue whose scheduler is hostile.
    Hostile,
}

/// A program: an executor, and what is done with it from outside, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub(super) setup: Setup,
    pub(super) ops: Vec<Op>,
    /// How many names its tasks have.
    pub(super) names: TaskName,
}

/// What an executor is made with, and how it ends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) poll_cap: Option<u8>,
    pub(super) host_budget_us: Option<u8>,
    /// The bytes that decide what the scheduler of the second slot's queue does wrong.
    pub(super) plan: Option<Box<[u8]>>,
    /// The one call in which it does, if not in all.
    pub(super) only_in: Option<Call>,
    pub(super) ending: Ending,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ending {
    /// The executor is dropped while all are at it.
    #[default]
    Dropped,
    /// It is shut down, after so many yields.
    ShutDown(u8),
    /// When no task is left.
    Drained,
}

/// A quarter of a hostile program is its scheduler's, up to so many bytes: two for each fault.
const PLAN_BYTES: usize = 32;
const ROUND_BYTES: usize = 10_000;

impl Program {
    /// The program that these bytes spell. All bytes spell one, and more bytes a longer one.
    pub fn new(kind: Kind, bytes: &[u8]) -> Self {
        let (setup, bytes) = match kind {
            Kind::Compared => (Setup::default(), bytes),
            _ => Setup::split_off(kind, bytes),
        };
        let tape = Tape::new(bytes);
        let mut grammar = Grammar::new(kind, &tape, 0);
        Program { setup, ops: grammar.program(), names: grammar.names }
    }
}

impl Setup {
    /// The setup that the first bytes spell, and the rest.
    fn split_off(kind: Kind, bytes: &[u8]) -> (Self, &[u8]) {
        let [cap, budget, ending, bytes @ ..] = bytes else { return (Self::default(), bytes) };
        let hostile = kind == Kind::Hostile;
        let (plan, rest) = bytes.split_at(if hostile { (bytes.len() / 4).min(PLAN_BYTES) } else { 0 });
        let setup = Setup {
            poll_cap: (hostile || *cap < 128).then_some(1 + cap % 64),
            // Often 0: then a turn has one poll.
            host_budget_us: (!hostile && *budget < 128).then_some(budget.saturating_sub(64)),
            plan: hostile.then(|| plan.into()),
            only_in: None,
            ending: match ending % 4 {
                0 => Ending::Dropped,
                1 => Ending::ShutDown(ending / 4),
                _ => Ending::Drained,
            },
        };
        (setup, rest)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:?}", self.setup)?;
        self.ops.iter().try_for_each(|op| writeln!(f, "  {op:?}"))
    }
}

/// Random bytes, up to so many.
pub fn random_bytes(seed: u64, most: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..=random.usize(..most)).map(|_| random.u8(..)).collect()
}

/// A round of a soak: a program of some hundred tasks, a host, and how many free threads there are beside it.
pub fn round(seed: u64) -> (Program, Host, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let kind = if random.u8(..4) == 0 { Kind::Hostile } else { Kind::Everything };
    let program = Program::new(kind, &random_bytes(random.u64(..), ROUND_BYTES));
    (program, Host::ALL[random.usize(..Host::ALL.len())], random.usize(..4))
}

/// The bytes without as many as can be left out in so many tries, so that they still fail.
pub fn shrunk(mut bytes: Vec<u8>, mut tries: u32, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut part = bytes.len();
    while part > 0 {
        let mut at = 0;
        while at < bytes.len() && tries > 0 {
            let mut fewer = bytes.clone();
            fewer.drain(at..bytes.len().min(at + part));
            tries -= 1;
            if fails(&fewer) {
                bytes = fewer;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    bytes
}
