//! Rounds of everything at once: [programs](crate::programs) in any host, with free threads beside it, without an end.

use std::fmt;

use anyhow::ensure;
use fastrand::Rng;

use crate::host::Host;
use crate::programs::{Audit, Kind, Outcome, Program, run};

/// Bytes of a round's program: some hundred tasks.
const BYTES: std::ops::Range<usize> = 1_000..8_000;

/// One executor, and all that is done with it; all of it from a seed.
#[derive(Clone, Debug)]
pub struct Round {
    kind: Kind,
    bytes: Vec<u8>,
    host: Host,
    /// Threads that wake, abort, spawn and drop. Without any, a round runs the same each time.
    pub threads: usize,
}

impl Round {
    /// The round of that number in a soak.
    pub fn of(seed: u64, number: u64) -> Self {
        let mut rng = Rng::with_seed(seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let length = rng.usize(BYTES);
        Round {
            kind: if rng.u8(..4) == 0 { Kind::Hostile } else { Kind::Everything },
            host: Host::ALL[rng.usize(..Host::ALL.len())],
            threads: rng.usize(..4),
            bytes: (0..length).map(|_| rng.u8(..)).collect(),
        }
    }

    /// Plays it.
    ///
    /// # Errors
    ///
    /// If there is anything to complain of.
    ///
    /// # Panics
    ///
    /// If the fault of a scheduler is not reported, or one that has none.
    pub fn play(&self) -> anyhow::Result<(Outcome, Audit)> {
        let outcome = run(&Program::new(self.kind, &self.bytes), self.host, self.threads)?;
        let audit = outcome.audit_beside(self.threads);
        ensure!(audit.is_clean(), "{audit:?} in {outcome:?}");
        Ok((outcome, audit))
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Round { kind, bytes, host, threads } = self;
        write!(f, "{kind:?} of {} bytes inside {host} beside {threads} threads", bytes.len())
    }
}
