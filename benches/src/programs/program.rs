//! A program: one function, compiled with two sets of imports.

use super::arm::Arm;
use super::quantity::Quantity;
use super::setting::Setting;

/// Runs a program once; a number for each of its quantities.
pub type Run = fn(&Setting) -> Vec<f64>;

/// What a program was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// tokio's `LocalSet`.
    LocalSet,
    /// monoio's own tasks.
    Monoio,
}

impl Base {
    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Base::LocalSet => "LocalSet",
            Base::Monoio => "monoio spawn",
        }
    }
}

/// Where a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this process.
    Here,
    /// In a process of its own, of which nothing has been used before.
    Apart,
}

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name on the command line and in the JSON file.
    pub key: &'static str,
    /// What it does.
    pub title: &'static str,
    /// What is measured.
    pub quantities: &'static [Quantity],
    /// What it was written for.
    pub base: Base,
    /// Where it is run.
    pub place: Place,
    /// The ratio that the bar allows.
    pub limit: f64,
    /// With the imports of what it was written for, and with Clockworker's.
    pub runs: [Run; 2],
}

impl Program {
    /// Runs it once, here.
    pub fn run(&self, arm: Arm, setting: &Setting) -> Vec<f64> {
        let [base, clockworker] = self.runs;
        let run = if arm == Arm::Clockworker { clockworker } else { base };
        run(setting)
    }
}
