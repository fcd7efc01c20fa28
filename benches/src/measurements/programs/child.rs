//! A sample in a process of its own.

use std::env;
use std::process::Command;

use super::options::SampleOptions;
use super::program::{Arm, Program, Setting};
use crate::failure::Failure;
use crate::harness::options::Common;
use crate::harness::pinning::Pinning;
use crate::terminal;

/// Runs `program` once in a process of this program, on this thread's core.
pub(super) fn sample(program: &Program, arm: Arm, setting: &Setting) -> Result<Vec<f64>, Failure> {
    let failed = |reason: &dyn std::fmt::Display| Failure::run(format!("'{}' failed: {reason}", program.key));
    let mut process = Command::new(env::current_exe().map_err(|error| failed(&error))?);
    process.args(["program-sample", program.key, arm.key(), "--seed", &setting.common.seed.to_string()]);
    process.args(setting.common.quick.then_some("--quick"));
    let output = process.output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    // JSON has no NaN.
    let found: Vec<Option<f64>> = serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))?;
    Ok(found.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// Is that process.
pub fn command(options: &SampleOptions) -> Result<(), Failure> {
    let SampleOptions { program, arm, quick, seed } = *options;
    let common = Common { quick, seed, ..Common::default() };
    let found = (program[arm as usize].run)(&Setting { common, pinning: Pinning::detect() });
    terminal::print(|out| Ok(serde_json::to_writer(out, &found)?))
}
