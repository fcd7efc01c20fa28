//! A program, measured as everything in `overhead` is.

use std::cell::RefCell;
use std::time::Duration;

use super::arm::Arm;
use super::child;
use super::program::{Place, Program};
use super::report::Finding;
use super::setting::Setting;
use crate::failure::Failure;
use crate::overhead::grid::{self, Rounds};
use crate::overhead::measure::{Measure, Quantity, Row};

/// A program, as a measure of one shape whose rows are the arms.
struct Sampled<'a> {
    program: &'static Program,
    setting: &'a Setting,
    /// Which of how many it is.
    remark: String,
    /// Why a sample is missing.
    failure: RefCell<Option<Failure>>,
}

impl Measure for Sampled<'_> {
    fn quantities(&self) -> Vec<Quantity> {
        self.program.quantities.iter().map(|quantity| quantity.measured()).collect()
    }

    fn shapes(&self) -> Vec<String> {
        vec![self.program.title.to_owned()]
    }

    fn rows(&self) -> Vec<Row> {
        Arm::ALL.map(|arm| arm.row(self.program.base)).to_vec()
    }

    fn rounds(&self) -> u32 {
        match self.program.place {
            Place::Here => 20,
            // It comes out nearly the same each time.
            Place::Apart => 5,
        }
    }

    fn time_limit(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn remark(&self) -> String {
        self.remark.clone()
    }

    fn sample(&self, _shape: usize, row: usize) -> Vec<f64> {
        let arm = Arm::ALL[row];
        match self.program.place {
            Place::Here => self.program.run(arm, self.setting),
            Place::Apart => child::sample(self.program, arm, self.setting).unwrap_or_else(|failure| {
                self.failure.borrow_mut().get_or_insert(failure);
                vec![f64::NAN; self.program.quantities.len()]
            }),
        }
    }
}

/// Measures `programs`.
///
/// # Errors
///
/// If a program in a process of its own fails.
pub fn run(
    programs: &[&'static Program],
    setting: &Setting,
    rounds: &Rounds,
) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for (place, &program) in programs.iter().enumerate() {
        let remark = format!("program {} of {}", place + 1, programs.len());
        let sampled = Sampled { program, setting, remark, failure: RefCell::default() };
        let grids = grid::run(program.key, place as u64, &sampled, rounds);
        if let Some(failure) = sampled.failure.into_inner() {
            return Err(failure);
        }
        let found = program.quantities.iter().zip(grids);
        findings.extend(found.map(|(&quantity, grid)| Finding::of(program, quantity, &grid)));
    }
    Ok(findings)
}
