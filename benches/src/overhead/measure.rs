//! Something that can be measured by shape and row.

use std::time::Duration;

use serde::Serialize;

/// One of the numbers that a sample gives.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quantity {
    /// Its name in the JSON file.
    pub key: &'static str,
    /// Its name for people, with the unit.
    pub title: &'static str,
}

/// A line of a table: an arm, or a way of setting one up.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name in the JSON file.
    pub key: String,
    /// Its name for people.
    pub title: String,
}

/// What samples are divided by, round by round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Versus {
    /// The first row's of the same shape: LocalSet's.
    FirstRow,
    /// The same row's of the first shape: one queue's, one group's.
    FirstShape,
}

/// Something that can be measured by shape and row.
pub trait Measure {
    /// What a sample consists of.
    fn quantities(&self) -> Vec<Quantity>;

    /// The shapes, the columns of the tables.
    fn shapes(&self) -> Vec<String>;

    /// The rows.
    fn rows(&self) -> Vec<Row>;

    /// What samples are divided by.
    fn versus(&self) -> Versus {
        Versus::FirstRow
    }

    /// Rounds, if nobody says otherwise.
    fn rounds(&self) -> u32 {
        30
    }

    /// When this is over no further round is started, unless somebody gives a number.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// What stands behind the progress bar.
    fn remark(&self) -> String {
        String::new()
    }

    /// Whether a row can be measured at a shape.
    fn can(&self, _shape: usize, _row: usize) -> bool {
        true
    }

    /// Takes one sample on a fresh executor: a number per quantity, NaN for one that this row does not have.
    fn sample(&self, shape: usize, row: usize) -> Vec<f64>;
}
