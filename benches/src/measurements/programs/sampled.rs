//! A program that is measured: the same by each arm.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::child;
use super::program::Program;
use super::setting::Setting;
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::Side;
use crate::harness::report::{Cell, arms};
use crate::harness::sample::Sample;

/// A program that is measured.
#[derive(Debug)]
pub struct Sampled {
    /// Which.
    pub program: &'static Program,
    /// What it is given.
    pub setting: Setting,
}

/// What tells a program from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// Its key.
    pub program: String,
    /// The ratio that its bars allow.
    pub limit: f64,
}

impl Experiment<Shape> for Sampled {
    fn cells(&self) -> Vec<Cell<Shape>> {
        let Program { key, title, limit, .. } = *self.program;
        let arm = |arm: Arm| (arm.key().to_owned(), self.program.runner(arm).to_owned());
        vec![Cell::new(title, Shape { program: key.to_owned(), limit }, arms(Arm::ALL.map(arm)))]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let arm = Arm::ALL[window.arm];
        let numbers = match self.program.apart {
            true => child::sample(self.program, arm, &self.setting)?,
            false => self.program.run(arm, &self.setting),
        };
        let named = self.program.quantities.iter().zip(numbers);
        Ok(named.fold(Sample::default(), |sample, (what, number)| sample.with_number(what.key(), number)))
    }

    fn rounds(&self) -> Rounds {
        // In a process of its own it comes out nearly the same each time.
        let usual = if self.program.apart { 5 } else { 20 };
        Rounds { usual, limit: Some(Duration::from_secs(10)), warms_up: true }
    }

    fn side(&self) -> Side {
        Side::Measured
    }
}
