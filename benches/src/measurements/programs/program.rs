//! A program: one function, compiled with two sets of imports.

use super::arm::Arm;
use super::quantity::Quantity;
use super::setting::Setting;

/// Runs a program once; a number for each of its quantities.
pub type Run = fn(&Setting) -> Vec<f64>;

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name on the command line and in the file of results.
    pub key: &'static str,
    /// What it does.
    pub title: &'static str,
    /// What is measured.
    pub quantities: &'static [Quantity],
    /// What it was written for.
    pub base: &'static str,
    /// Whether it is run in a process of its own, of which nothing has been used before.
    pub apart: bool,
    /// The ratio that the bar allows.
    pub limit: f64,
    /// With the imports of what it was written for, and with Clockworker's.
    pub runs: [Run; 2],
}

impl Program {
    /// The name for people of what runs it.
    pub fn runner(&self, arm: Arm) -> &'static str {
        match arm {
            Arm::Base => self.base,
            Arm::Clockworker => "Clockworker",
        }
    }

    /// Runs it once, here.
    pub fn run(&self, arm: Arm, setting: &Setting) -> Vec<f64> {
        let [base, clockworker] = self.runs;
        match arm {
            Arm::Base => base(setting),
            Arm::Clockworker => clockworker(setting),
        }
    }
}
