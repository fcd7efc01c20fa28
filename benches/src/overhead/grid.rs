//! A measure, run in interleaved rounds.

use std::time::Duration;

use serde::Serialize;

use super::measure::{Measure, Quantity, Row, Versus};
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::stats::{self, Estimate};
use crate::stopwatch::Stopwatch;

/// Fewer rounds than this give no interval worth printing.
const FEWEST_ROUNDS: u32 = 8;
const QUICK_ROUNDS: u32 = 2;

/// How many rounds to run.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    wanted: Option<u32>,
    quick: bool,
    seed: u64,
}

impl Rounds {
    /// As many as are `wanted`, or as are usual.
    pub fn new(wanted: Option<u32>, quick: bool, seed: u64) -> Self {
        Rounds { wanted, quick, seed }
    }

    fn number(&self, usual: u32) -> u32 {
        self.wanted.unwrap_or(if self.quick { QUICK_ROUNDS } else { usual })
    }

    fn is_enough(&self, done: u32, elapsed: Duration, limit: Duration) -> bool {
        self.wanted.is_none() && done >= FEWEST_ROUNDS && elapsed > limit
    }
}

/// One quantity of a measure, by row and shape.
#[derive(Debug, Serialize)]
pub struct Grid {
    /// What was measured.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// What the ratios are to.
    pub versus: Versus,
    /// The columns.
    pub shapes: Vec<String>,
    /// The lines.
    pub rows: Vec<GridRow>,
}

/// One line of a grid.
#[derive(Debug, Serialize)]
pub struct GridRow {
    /// Whose.
    #[serde(flatten)]
    pub row: Row,
    /// By shape; `null` where the row cannot be measured.
    pub cells: Vec<Option<Cell>>,
}

/// What was found for a row at a shape.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// The median of the samples.
    pub median: f64,
    /// The median of the ratios, with its 95 % bootstrap interval; `null` where there is nothing to divide by.
    pub ratio: Option<Estimate>,
    /// The samples, by round.
    pub samples: Vec<f64>,
}

/// Samples by shape, row, quantity and round.
type Samples = Vec<Vec<Option<Vec<Vec<f64>>>>>;

/// Runs `measure`. Its `name` stands beside the progress bar, and `part` tells it apart from what else is run.
pub fn run(name: &'static str, part: u64, measure: &dyn Measure, rounds: &Rounds) -> Vec<Grid> {
    let samples = take(name, part, measure, rounds);
    let mut resampling = Random::new(rounds.seed, Purpose::Resampling, part);
    let quantities = measure.quantities().into_iter().enumerate();
    quantities.map(|(place, quantity)| grid(measure, quantity, place, &samples, &mut resampling)).collect()
}

fn take(name: &'static str, part: u64, measure: &dyn Measure, rounds: &Rounds) -> Samples {
    let number = rounds.number(measure.rounds());
    let progress = Progress::start(name, u64::from(number));
    progress.say(measure.remark());
    let mut order = Random::new(rounds.seed, Purpose::Order, part);
    let (shapes, rows) = (measure.shapes().len(), measure.rows().len());
    let quantities = measure.quantities().len();
    let none = |shape, row| measure.can(shape, row).then(|| vec![Vec::new(); quantities]);
    let mut samples: Samples =
        (0..shapes).map(|shape| (0..rows).map(|row| none(shape, row)).collect()).collect();
    if !rounds.quick {
        run_round(measure, &mut order, &mut samples.clone());
    }
    let watch = Stopwatch::start();
    for round in 0..number {
        if rounds.is_enough(round, watch.elapsed(), measure.time_limit()) {
            break;
        }
        run_round(measure, &mut order, &mut samples);
        progress.advance();
    }
    progress.finish();
    samples
}

/// One sample for every shape and row. What is divided by each other is shuffled together.
fn run_round(measure: &dyn Measure, order: &mut Random, samples: &mut Samples) {
    for mut group in groups(measure) {
        order.shuffle(&mut group);
        for (shape, row) in group {
            let Some(columns) = &mut samples[shape][row] else { continue };
            for (column, value) in columns.iter_mut().zip(measure.sample(shape, row)) {
                column.push(value);
            }
        }
    }
}

fn groups(measure: &dyn Measure) -> Vec<Vec<(usize, usize)>> {
    let (shapes, rows) = (measure.shapes().len(), measure.rows().len());
    match measure.versus() {
        Versus::FirstRow => (0..shapes).map(|shape| (0..rows).map(|row| (shape, row)).collect()).collect(),
        Versus::FirstShape => (0..rows).map(|row| (0..shapes).map(|shape| (shape, row)).collect()).collect(),
    }
}

fn grid(
    measure: &dyn Measure,
    quantity: Quantity,
    place: usize,
    samples: &Samples,
    resampling: &mut Random,
) -> Grid {
    let column = |shape: usize, row: usize| samples[shape][row].as_ref().map(|columns| &columns[place]);
    let versus = measure.versus();
    let shapes = measure.shapes();
    let mut cell = |shape: usize, row: usize| {
        let own = column(shape, row)?;
        let base = match versus {
            Versus::FirstRow => (row > 0).then(|| column(shape, 0)),
            Versus::FirstShape => (shape > 0).then(|| column(0, row)),
        };
        Cell::of(own, base.flatten(), resampling)
    };
    let rows = measure.rows().into_iter().enumerate().map(|(number, row)| GridRow {
        row,
        cells: (0..shapes.len()).map(|shape| cell(shape, number)).collect(),
    });
    Grid { quantity, versus, rows: rows.collect(), shapes }
}

impl Cell {
    fn of(samples: &[f64], base: Option<&Vec<f64>>, resampling: &mut Random) -> Option<Self> {
        if !samples.iter().all(|sample| sample.is_finite()) {
            return None;
        }
        let ratios = base.map(|base| stats::paired_ratios(samples, base));
        let ratios = ratios.filter(|ratios| ratios.iter().all(|ratio| ratio.is_finite()));
        let ratio = ratios.map(|ratios| stats::bootstrap_median(&ratios, resampling));
        Some(Cell { median: stats::median(samples), ratio, samples: samples.to_vec() })
    }
}

impl Grid {
    /// The cell of a row at a shape.
    pub fn cell(&self, row: &str, shape: usize) -> Option<&Cell> {
        self.rows.iter().find(|found| found.row.key == row)?.cells.get(shape)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell as Counter;

    /// Samples drift from round to round; those of a row or column do so together.
    struct Drifting(Versus, Counter<u32>);

    const SIZE: usize = 3;

    impl Measure for Drifting {
        fn quantities(&self) -> Vec<Quantity> {
            vec![Quantity { key: "time", title: "Time" }, Quantity { key: "nothing", title: "Nothing" }]
        }

        fn shapes(&self) -> Vec<String> {
            (0..SIZE).map(|shape| shape.to_string()).collect()
        }

        fn rows(&self) -> Vec<Row> {
            let row = |row: usize| Row { key: row.to_string(), title: row.to_string() };
            (0..SIZE).map(row).collect()
        }

        fn versus(&self) -> Versus {
            self.0
        }

        fn can(&self, shape: usize, row: usize) -> bool {
            (shape, row) != (1, 1)
        }

        fn sample(&self, shape: usize, row: usize) -> Vec<f64> {
            let measured = (SIZE * SIZE - 1) as u32;
            let round = self.1.replace(self.1.get() + 1) / measured;
            vec![f64::from(round + 1) * (row + 1) as f64 * 10_f64.powi(shape as i32), f64::NAN]
        }
    }

    fn grids(versus: Versus) -> Vec<Grid> {
        let rounds = Rounds { wanted: Some(4), quick: true, seed: 1 };
        run("drifting", 0, &Drifting(versus, Counter::new(0)), &rounds)
    }

    #[test]
    fn ratios_are_to_the_first_row_of_the_round() {
        let grid = &grids(Versus::FirstRow)[0];
        assert_eq!(grid.cell("2", 1).unwrap().ratio.unwrap(), Estimate { median: 3.0, low: 3.0, high: 3.0 });
        assert_eq!(grid.cell("2", 1).unwrap().samples, [30.0, 60.0, 90.0, 120.0]);
        assert_eq!(grid.cell("0", 1).unwrap().ratio, None);
    }

    #[test]
    fn ratios_are_to_the_first_shape_of_the_round() {
        let grid = &grids(Versus::FirstShape)[0];
        assert_eq!(grid.cell("2", 2).unwrap().ratio.unwrap().median, 100.0);
        assert_eq!(grid.cell("2", 0).unwrap().ratio, None);
    }

    #[test]
    fn what_cannot_be_measured_is_left_out() {
        let [time, nothing] = &grids(Versus::FirstRow)[..] else { panic!("two quantities") };
        assert!(time.cell("1", 1).is_none() && time.cell("1", 0).is_some());
        assert!(nothing.rows.iter().all(|row| row.cells.iter().all(Option::is_none)));
    }
}
