//! How soon aborts take effect: programs in which tasks are aborted in every phase, here and on other threads.

use std::collections::BTreeSet;

use crate::host::Host;
use crate::programs::{AbortKind, Actor, Kind, Program, run};

/// How many kinds of aborts there are: new, parked, arriving and ready tasks are aborted from outside, by the future that is
/// run, and by tasks, on two threads each; one that is being polled by itself on both, woken or not.
pub const KINDS: usize = 4 * 3 * 2 + 2 * 2;

/// Bytes of a program.
const BYTES: usize = 8_000;

/// Plays the program of that seed to its end: which kinds of aborts there were.
///
/// # Errors
///
/// If a task of the queue of an aborted one was polled before that was dropped, or there is anything else to complain of.
pub fn play(seed: u64) -> anyhow::Result<BTreeSet<AbortKind>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let bytes: Vec<u8> = (0..BYTES).map(|_| random.u8(..)).collect();
    let audit = run(&Program::new(Kind::Everything, &bytes), Host::Alone, 0)?.audit();
    anyhow::ensure!(audit.is_clean(), "{audit:?}");
    let of_users = |by: &Actor| matches!(by, Actor::Outside | Actor::Main | Actor::Task);
    Ok(audit.aborts.into_iter().filter(|(_, by, _)| of_users(by)).collect())
}
