//! Promise 15: a program has the same schedule in every run, inside every host.

use std::collections::BTreeMap;

use clap::Args;
use clockworker_testing::host::Host;
use clockworker_testing::programs::{Program, Stage};

use crate::cases::bar;
use crate::figure::{Figure, none, told};

/// Random programs have the same schedule in every run, inside every host (promise 15).
#[derive(Args, Clone, Debug)]
pub struct Options {
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

/// See the [module docs](self).
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let (runs, programs) = if options.quick { (200, 20) } else { (options.runs, options.programs) };
    let bar = bar(runs * Host::ALL.len() as u64);
    let mut hashes = Hashes::default();
    for &host in Host::ALL {
        let stage = Stage::start(host)?;
        for run in 0..runs {
            let seed = options.seed.wrapping_add(run % programs);
            let outcome = stage.run(&Program::of_length(seed, BYTES));
            hashes.compare(seed, host, outcome.hash());
            hashes.events += outcome.trace.len() as u64;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    hashes.show_first();
    Ok(vec![
        told(15, "runs inside each host", runs),
        told(15, "hosts", Host::ALL.len()),
        told(15, "programs", hashes.first.len()),
        told(15, "events in their schedules", hashes.events),
        told(15, "sum of the programs' schedule hashes, low 48 bits", hashes.sum()),
        none(15, "runs whose schedule hash differs", hashes.different),
    ])
}

#[derive(Default)]
struct Hashes {
    /// By seed.
    first: BTreeMap<u64, u64>,
    different: u64,
    /// The first run that differed.
    example: Option<(u64, Host)>,
    events: u64,
}

impl Hashes {
    fn compare(&mut self, seed: u64, host: Host, hash: u64) {
        if *self.first.entry(seed).or_insert(hash) != hash {
            self.different += 1;
            self.example.get_or_insert((seed, host));
        }
    }

    /// One number for all programs, to be compared between machines.
    fn sum(&self) -> f64 {
        let sum = self.first.values().fold(0_u64, |sum, hash| sum.wrapping_add(*hash));
        (sum & ((1 << 48) - 1)) as f64
    }

    #[allow(clippy::print_stderr, reason = "where to look")]
    fn show_first(&self) {
        if let Some((seed, host)) = self.example {
            eprintln!("the program of seed {seed} has another schedule inside {host}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_that_differs_is_counted_and_named() {
        let mut hashes = Hashes::default();
        hashes.compare(1, Host::Alone, 7);
        hashes.compare(2, Host::Alone, 8);
        hashes.compare(1, Host::Smol, 7);
        assert_eq!((hashes.different, hashes.example), (0, None));
        hashes.compare(2, Host::Smol, 9);
        assert_eq!((hashes.different, hashes.example), (1, Some((2, Host::Smol))));
    }
}
