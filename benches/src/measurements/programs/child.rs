//! A sample in a process of its own.

use super::options::SampleOptions;
use super::program::{Arm, Program, Setting};
use crate::failure::Failure;
use crate::harness::child::{Child, say};
use crate::harness::{Common, Pinning};

/// Runs `program` once in a process of this program, on this thread's core.
pub(super) fn sample(program: &'static Program, arm: Arm, setting: &Setting) -> Result<Vec<f64>, Failure> {
    let seed = setting.common.seed.to_string();
    let line = ["program-sample", program.key, arm.key(), "--seed", &seed];
    let quick = setting.common.quick.then_some("--quick");
    // JSON has no NaN.
    let found: Vec<Option<f64>> = Child::start(program.key, line.into_iter().chain(quick))?.hear()?;
    Ok(found.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// Is that process.
pub fn command(options: &SampleOptions) -> Result<(), Failure> {
    let SampleOptions { program, arm, quick, seed } = *options;
    let common = Common { quick, seed, ..Common::default() };
    let found = (program[arm as usize].run)(&Setting { common, pinning: Pinning::detect() });
    say(&found).map_err(|error| Failure::run(format!("cannot write to standard output: {error}")))
}
