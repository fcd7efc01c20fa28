//! A measure: tables of the same samples.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::arm::Arm;
use super::options::{Options, Section};
use crate::arms::runner::Job;
use crate::harness::{Cell, Rounds, Sample, Sampling, arms};
use crate::measurements::Keyed;

/// What the cells of a measure have in common: their section, and a table for each quantity.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Topic {
    pub(super) section: Section,
    pub(super) quantities: Vec<Quantity>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Quantity {
    pub(super) key: String,
    pub(super) title: String,
}

impl Topic {
    fn new(section: Section, quantities: Quantities) -> Self {
        let quantity = |(key, title): &(&str, &str)| Quantity { key: (*key).into(), title: (*title).into() };
        Topic { section, quantities: quantities.iter().map(quantity).collect() }
    }
}

pub(super) type Quantities = &'static [(&'static str, &'static str)];

pub(super) struct Column {
    title: String,
    /// A number for each quantity, NaN for one that the arm does not have.
    sample: Box<dyn Fn(Arm) -> Vec<f64>>,
    without: &'static [&'static str],
}

impl Column {
    pub(super) fn new(title: impl Into<String>, sample: impl Fn(Arm) -> Vec<f64> + 'static) -> Self {
        Column { title: title.into(), sample: Box::new(sample), without: &[] }
    }

    pub(super) fn of(title: impl Into<String>, job: impl Job + 'static) -> Self {
        Column::new(title, move |arm| arm.run(&job))
    }

    pub(super) fn each(title: impl Into<String>, job: impl Job + 'static, number: usize) -> Self {
        Column::new(title, move |arm| vec![arm.run(&job)[0] / number as f64])
    }

    pub(super) fn without(self, without: &'static [&'static str]) -> Self {
        Column { without, ..self }
    }
}

/// What executors, or ways of setting one up, are measured for in the same rounds.
pub(super) type Measure = Sampling<Topic>;

/// `sample` has, by cell and arm, a number for each key, or none if it cannot be measured.
pub(crate) fn measure<S>(
    cells: Vec<Cell<S>>,
    keys: Vec<&'static str>,
    rounds: Rounds,
    sample: impl Fn(usize, usize) -> Vec<f64> + 'static,
) -> Sampling<S> {
    Sampling::new(cells, rounds, move |window| {
        let numbers = keys.iter().zip(sample(window.cell, window.arm));
        Ok(numbers.fold(Sample::default(), |sample, (key, number)| sample.with_number(*key, number)))
    })
}

/// As many as in a minute, at the most.
pub(super) const ROUNDS: Rounds = Rounds { usual: 30, limit: Some(Duration::from_secs(60)), warms_up: true };

impl Measure {
    pub(super) fn of_executors(
        section: Section,
        quantities: Quantities,
        options: &Options,
        columns: impl Into<Vec<Column>>,
    ) -> Self {
        let (columns, measured, topic) = (columns.into(), options.arms(), Topic::new(section, quantities));
        let executors = arms(measured.iter().map(|arm| (arm.key(), arm.title())));
        let cell = |column: &Column| Cell::new(&column.title, topic.clone(), executors.clone());
        let cells = columns.iter().map(cell).collect();
        measure(cells, keys(quantities), ROUNDS, move |cell, arm| {
            let (Column { sample, without, .. }, arm) = (&columns[cell], measured[arm]);
            if without.contains(&arm.key().as_str()) { Vec::new() } else { sample(arm) }
        })
    }

    /// Measures clockworker beside itself. Each row is a cell, and its arms are the columns, by key and title: what is in the
    /// first of them is measured twice (A/A).
    pub(super) fn of_itself(
        section: Section,
        quantities: Quantities,
        rows: impl IntoIterator<Item = impl Into<String>>,
        columns: impl Iterator<Item = (String, String)> + Clone,
        sample: impl Fn(usize, usize) -> Vec<f64> + 'static,
    ) -> Self {
        let (columns, topic) =
            (arms(columns.clone().take(1).chain(columns)), Topic::new(section, quantities));
        let cells = rows.into_iter().map(|title| Cell::new(title, topic.clone(), columns.clone())).collect();
        let sample = move |row, column: usize| sample(row, column.saturating_sub(1));
        measure(cells, keys(quantities), ROUNDS, sample)
    }
}

fn keys(quantities: Quantities) -> Vec<&'static str> {
    quantities.iter().map(|(key, _)| *key).collect()
}
