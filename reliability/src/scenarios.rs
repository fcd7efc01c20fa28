//! Promises 3 and 4: random programs run as on the reference executor, nothing is touched on another thread or dropped
//! more or less than once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use clockworker_testing::host::Host;
use clockworker_testing::programs::{Audit, Outcome, Program, check, run_clockworker};

use crate::cases::in_parallel;
use crate::figure::{Figure, none, told};

#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
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
}

#[derive(Default)]
struct Found {
    sum: Audit,
    /// Programs that ran otherwise than on the reference, or made the executor panic.
    different: u64,
    /// The first seed of those that were not as they should be.
    first: Option<u64>,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let programs = match options {
        Options { only: true, .. } => 1,
        Options { quick: true, .. } => 20_000,
        Options { programs, .. } => *programs,
    };
    let found = Mutex::new(Found::default());
    // Each thread has another one for what its programs do elsewhere.
    in_parallel(0..programs as usize, |at| examine(options.seed.wrapping_add(at as u64), &found));
    let Found { sum, different, first } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(seed) = first.or(options.only.then_some(options.seed)) {
        show(seed);
    }
    Ok(vec![
        told(3, "random programs", programs),
        told(3, "tasks in them", sum.tasks),
        told(3, "polls in them", sum.polls),
        none(3, "futures touched or dropped on another thread", sum.strayed),
        none(4, "futures dropped more or less than once", sum.future_drops),
        none(4, "outputs dropped more or less than once", sum.output_drops),
        none(4, "programs that run otherwise than on the reference", different),
    ])
}

fn examine(seed: u64, found: &Mutex<Found>) {
    let program = Program::from_seed(seed);
    let checked = checked(&program).ok();
    let is_different = checked.is_none();
    // What Clockworker does by itself is still to be counted, if it comes to an end.
    let alone = || catch_unwind(|| run_clockworker(&program, Host::Alone)).ok()?.ok();
    let audit = checked.or_else(alone).map_or_else(Audit::default, |outcome| outcome.audit());
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    found.sum.add(&audit);
    if is_different || !audit.is_clean() {
        found.different += u64::from(is_different);
        found.first = Some(found.first.map_or(seed, |first| first.min(seed)));
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
