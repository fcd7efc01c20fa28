//! A measure, run in interleaved rounds.

use std::time::Duration;

use serde::Serialize;

use super::measure::{Measure, Quantity, Row, Versus};
use super::options::Options;
use super::section::Section;
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::stats::{self, Estimate};
use crate::stopwatch::Stopwatch;

/// When this is over no further round of a measure is started, unless the command line gives a number.
const TIME_LIMIT: Duration = Duration::from_secs(60);

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
    /// As the command line has it.
    pub fn of(options: &Options) -> Self {
        Rounds { wanted: options.rounds, quick: options.quick, seed: options.seed }
    }

    fn number(&self, usual: u32) -> u32 {
        self.wanted.unwrap_or(if self.quick { QUICK_ROUNDS } else { usual })
    }

    fn is_enough(&self, done: u32, watch: &Stopwatch) -> bool {
        self.wanted.is_none() && done >= FEWEST_ROUNDS && watch.elapsed() > TIME_LIMIT
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

/// Runs `measure`.
pub fn run(section: Section, number: u64, measure: &dyn Measure, rounds: &Rounds) -> Vec<Grid> {
    let part = (section as u64) << 8 | number;
    let samples = take(section, part, measure, rounds);
    let mut resampling = Random::new(rounds.seed, Purpose::Resampling, part);
    let quantities = measure.quantities().into_iter().enumerate();
    quantities.map(|(place, quantity)| grid(measure, quantity, place, &samples, &mut resampling)).collect()
}

fn take(section: Section, part: u64, measure: &dyn Measure, rounds: &Rounds) -> Samples {
    let number = rounds.number(measure.rounds());
    let progress = Progress::start(section.title(), u64::from(number));
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
        if rounds.is_enough(round, &watch) {
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
