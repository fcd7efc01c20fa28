//! Promise 15: a program has the same schedule in every run, inside every host.

use std::collections::BTreeMap;

use clap::Args;
use clockworker_testing::host::Host;
use clockworker_testing::programs::{Program, Stage};

use crate::cases::bar;
use crate::figure::{Figure, none, told};

#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Runs inside each host.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    runs: u64,
    /// Different programs among them.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    programs: u64,
    /// The first program's seed.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// 200 runs of 20 programs: seconds.
    #[arg(long)]
    quick: bool,
}

/// Bytes that spell a program: some hundred polls.
const BYTES: usize = 1_000;

#[allow(clippy::print_stderr, reason = "where to look")]
pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let (runs, programs) = if options.quick { (200, 20) } else { (options.runs, options.programs) };
    let bar = bar(runs * Host::ALL.len() as u64);
    let (mut hashes, mut events, mut different) = (Hashes::default(), 0, 0_u64);
    for &host in Host::ALL {
        let stage = Stage::start(host)?;
        for run in 0..runs {
            let seed = options.seed.wrapping_add(run % programs);
            let outcome = stage.run(&Program::of_length(seed, BYTES));
            events += outcome.trace.len();
            if hashes.differs(seed, outcome.hash()) {
                different += 1;
                if different == 1 {
                    eprintln!("the program of seed {seed} has another schedule inside {host}");
                }
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(vec![
        told(15, "runs inside each host", runs),
        told(15, "hosts", Host::ALL.len()),
        told(15, "programs", hashes.0.len()),
        told(15, "events in their schedules", events),
        told(15, "sum of the programs' schedule hashes, low 48 bits", hashes.sum()),
        none(15, "runs whose schedule hash differs", different),
    ])
}

/// Of the first run of each program, by its seed.
#[derive(Default)]
struct Hashes(BTreeMap<u64, u64>);

impl Hashes {
    /// Whether the program had another hash before.
    fn differs(&mut self, seed: u64, hash: u64) -> bool {
        *self.0.entry(seed).or_insert(hash) != hash
    }

    /// One number for all programs, to be compared between machines.
    fn sum(&self) -> f64 {
        let sum = self.0.values().fold(0_u64, |sum, hash| sum.wrapping_add(*hash));
        (sum & ((1 << 48) - 1)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_compared_with_the_first_of_its_program() {
        let mut hashes = Hashes::default();
        let runs = [(1, 7), (2, 8), (1, 7), (2, 9), (2, 8)];
        let differs = runs.map(|(seed, hash)| hashes.differs(seed, hash));
        assert_eq!((differs, hashes.sum()), ([false, false, false, true, false], 15.0));
    }
}
