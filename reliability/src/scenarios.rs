//! Promises 3 and 4: random programs run as on the reference executor, nothing is touched on another thread or dropped
//! more or less than once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Args;
use clockworker_testing::host::Host;
use clockworker_testing::programs::{Audit, Outcome, Program, check, run_clockworker};

use crate::cases::in_parallel;
use crate::figure::{Figure, none, told};

/// Random programs run as on a reference executor (promises 3 and 4).
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Programs, of as many seeds.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    programs: u64,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Only the program of that seed, and show what happens in it.
    #[arg(long)]
    only: bool,
    /// 20,000 programs: seconds.
    #[arg(long, conflicts_with = "only")]
    quick: bool,
    /// Threads that run programs. Each has another one for what its programs do elsewhere. As many as there are processors
    /// unless told otherwise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_024))]
    threads: Option<u64>,
}

/// What was found.
#[derive(Default)]
struct Found {
    programs: u64,
    sum: Audit,
    /// Programs that ran otherwise than on the reference, or made the executor panic.
    different: u64,
    /// The first seed of those that were not as they should be.
    first: Option<u64>,
}

/// Seeds that a worker takes at a time.
const BATCH: u64 = 64;

/// See the [module docs](self).
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let programs = match options {
        Options { only: true, .. } => 1,
        Options { quick: true, .. } => 20_000,
        Options { programs, .. } => *programs,
    };
    let found = run_all(options.seed, programs, options.threads);
    match found.first {
        Some(seed) => show(seed),
        None if options.only => show(options.seed),
        None => {}
    }
    Ok(figures(&found))
}

fn figures(found: &Found) -> Vec<Figure> {
    let Found { programs, sum, different, first: _ } = found;
    vec![
        told(3, "random programs", *programs),
        told(3, "tasks in them", sum.tasks),
        told(3, "polls in them", sum.polls),
        none(3, "futures touched or dropped on another thread", sum.strayed),
        none(4, "futures dropped more or less than once", sum.future_drops),
        none(4, "outputs dropped more or less than once", sum.output_drops),
        none(4, "programs that run otherwise than on the reference", *different),
    ]
}

fn run_all(first: u64, programs: u64, threads: Option<u64>) -> Found {
    let batches = (0..programs.div_ceil(BATCH) as usize).map(|batch| batch as u64 * BATCH);
    let found = in_parallel(batches, threads.map(|threads| threads as usize), |batch| {
        let mut found = Found::default();
        (batch..programs.min(batch + BATCH)).for_each(|at| found.examine(first.wrapping_add(at)));
        found
    });
    let mut sum = Found::default();
    found.iter().for_each(|found| sum.add(found));
    sum
}

impl Found {
    fn examine(&mut self, seed: u64) {
        self.programs += 1;
        let program = Program::from_seed(seed);
        let outcome = match checked(&program) {
            Ok(outcome) => Some(outcome),
            Err(_) => {
                self.different += 1;
                self.note(seed);
                // What Clockworker does by itself is still to be counted, if it comes to an end.
                let alone = catch_unwind(|| run_clockworker(&program, Host::Alone));
                alone.ok().and_then(Result::ok)
            }
        };
        let audit = outcome.map_or_else(Audit::default, |outcome| outcome.audit());
        if !audit.is_clean() {
            self.note(seed);
        }
        self.sum.add(&audit);
    }

    fn note(&mut self, seed: u64) {
        self.first = Some(self.first.map_or(seed, |first| first.min(seed)));
    }

    fn add(&mut self, other: &Found) {
        self.programs += other.programs;
        self.sum.add(&other.sum);
        self.different += other.different;
        if let Some(seed) = other.first {
            self.note(seed);
        }
    }
}

/// Runs a program on both executors. The error says how they differ, or that one panicked.
fn checked(program: &Program) -> Result<Outcome, String> {
    let checked = catch_unwind(AssertUnwindSafe(|| check(program)));
    checked.map_or(Err("panicked".to_owned()), |checked| checked.map_err(|difference| difference.to_string()))
}

/// Shows a program and what happens in it. One that is not as it should be is shown as small as it can be made.
#[allow(clippy::print_stderr, reason = "where to look")]
fn show(seed: u64) {
    let fails = |program: &Program| checked(program).map_or(true, |outcome| !outcome.audit().is_clean());
    let whole = Program::from_seed(seed);
    let program = if fails(&whole) { Program::shrunk(seed, fails) } else { whole };
    eprintln!("the program of seed {seed} (again: scenarios --only --seed {seed}):\n{program}");
    match checked(&program) {
        Ok(outcome) => {
            outcome.trace.iter().for_each(|entry| eprintln!("  {entry}"));
            eprintln!("{:?}", outcome.audit());
        }
        Err(wrong) => eprintln!("{wrong}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_threads_find_is_what_one_finds() {
        let (one, three) = (run_all(7, 500, Some(1)), run_all(7, 500, Some(3)));
        assert_eq!((one.programs, one.sum, one.different), (500, three.sum, 0));
        assert_eq!(three.programs, 500);
        assert!(figures(&one).iter().all(Figure::is_kept));
    }
}
