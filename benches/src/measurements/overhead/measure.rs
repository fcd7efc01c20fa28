//! A measure: tables of the same samples.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::arm::{Arm, Need};
use super::section::Section;
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::Side;
use crate::harness::report::{Cell, arms};
use crate::harness::sample::Sample;

/// What the cells of a measure have in common: their section, and a table for each quantity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// Where it stands.
    pub section: Section,
    /// What a sample consists of.
    pub quantities: Vec<Quantity>,
}

/// One of the numbers that a sample gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantity {
    /// The figure's key.
    pub key: String,
    /// Its name for people, with the unit.
    pub title: String,
}

impl Topic {
    /// In a section, with the keys and titles of the quantities.
    pub fn new(section: Section, quantities: &[(&str, &str)]) -> Self {
        let quantity =
            |&(key, title): &(&str, &str)| Quantity { key: key.to_owned(), title: title.to_owned() };
        Topic { section, quantities: quantities.iter().map(quantity).collect() }
    }
}

/// What executors, or ways of setting one up, are measured for in the same rounds.
pub(super) struct Measure {
    cells: Vec<Cell<Topic>>,
    rounds: Rounds,
    /// By cell and arm: a number for each quantity, NaN for one that the arm does not have, or none if it cannot be measured.
    sample: Box<dyn Fn(usize, usize) -> Vec<f64>>,
}

impl Measure {
    /// Measures executors beside LocalSet, the first of `named`. Each column is a cell, and may need something of them.
    pub(super) fn of_executors(
        topic: &Topic,
        named: Vec<Arm>,
        columns: impl IntoIterator<Item = (impl Into<String>, Option<Need>)>,
        sample: impl Fn(usize, Arm) -> Vec<f64> + 'static,
    ) -> Self {
        let (titles, needs): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let executors = arms(named.iter().map(|arm| (arm.key(), arm.title())));
        let cell = |title: _| Cell::new(title, topic.clone(), executors.clone());
        let sample_of = move |cell: usize, arm: usize| {
            let can = needs[cell].is_none_or(|need| named[arm].has(need));
            if can { sample(cell, named[arm]) } else { Vec::new() }
        };
        Measure::new(titles.into_iter().map(cell).collect(), sample_of)
    }

    /// Measures clockworker beside itself. Each row is a cell, and its arms are the columns, by key and title: what is in the
    /// first of them is measured twice (A/A).
    pub(super) fn of_itself(
        topic: &Topic,
        rows: impl IntoIterator<Item = impl Into<String>>,
        columns: impl Iterator<Item = (String, String)> + Clone,
        sample: impl Fn(usize, usize) -> Vec<f64> + 'static,
    ) -> Self {
        let columns = arms(columns.clone().take(1).chain(columns));
        let cells = rows.into_iter().map(|title| Cell::new(title, topic.clone(), columns.clone()));
        Measure::new(cells.collect(), move |row, column| sample(row, column.saturating_sub(1)))
    }

    fn new(cells: Vec<Cell<Topic>>, sample: impl Fn(usize, usize) -> Vec<f64> + 'static) -> Self {
        let rounds = Rounds { usual: 30, limit: Some(Duration::from_secs(60)), warms_up: true };
        Measure { cells, rounds, sample: Box::new(sample) }
    }

    /// The same in so many rounds, unless `--rounds` gives a number.
    pub(super) fn with_rounds(mut self, usual: u32) -> Self {
        self.rounds.usual = usual;
        self
    }

    /// The same with so much time.
    pub(super) fn with_limit(mut self, limit: Duration) -> Self {
        self.rounds.limit = Some(limit);
        self
    }
}

impl Experiment<Topic> for Measure {
    fn cells(&self) -> Vec<Cell<Topic>> {
        self.cells.clone()
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let quantities = &self.cells[window.cell].shape.quantities;
        let numbers = (self.sample)(window.cell, window.arm);
        let figures = quantities.iter().zip(numbers);
        Ok(figures.fold(Sample::default(), |sample, (quantity, number)| {
            sample.with_number(quantity.key.as_str(), number)
        }))
    }

    fn rounds(&self) -> Rounds {
        self.rounds
    }

    fn side(&self) -> Side {
        Side::Measured
    }
}
