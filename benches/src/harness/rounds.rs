//! The loop of all measurements: rounds in which every arm of every cell is measured, in an order that favours none.
//!
//! In each *round* all arms are measured, in [balanced](Balance) order, and each sample is divided by the base's of the same
//! round. Reported is the median of those ratios with its interval. Machines drift, and pairs drift together.

use std::collections::BTreeMap;

use indicatif::ProgressBar;
use serde::de::DeserializeOwned;

use super::balance::Balance;
use super::experiment::{Experiment, Rounds, Window};
use super::options::Common;
use super::report::{Cell, Distribution, Figure};
use super::sample::{Sample, figures_of};
use super::workers::Workers;
use crate::failure::Failure;
use crate::random::{Purpose, Random};
use crate::stats::spread::Values;
use crate::stats::{self, Estimate, Interval};
use crate::stopwatch::Stopwatch;

#[derive(Clone, Debug, Default)]
struct Record {
    samples: BTreeMap<String, Vec<f64>>,
    values: BTreeMap<String, Values>,
}

/// What there is of each arm, by cell.
pub type ByArm<T> = Vec<Vec<T>>;

/// Runs an experiment that has been started. `part` tells its random numbers from those of others.
pub fn run<S>(
    experiment: &mut dyn Experiment<S>,
    part: u64,
    options: &Common,
    progress: &ProgressBar,
) -> Result<Vec<Cell<S>>, Failure> {
    let (cells, rounds, wanted) = (experiment.cells(), experiment.rounds(), experiment.wanted(options));
    let mut order = begin(experiment, part, options, progress)?;
    let take = |round| run_round(experiment, &cells, round, &mut order, progress);
    let records = record(take, rounds, wanted, options, progress)?;
    Ok(evaluated(experiment, cells, &records, 1, part, options))
}

/// The same, but `workers` take the rounds in turn, each in a process of its own.
pub(crate) fn run_apart<S: DeserializeOwned>(
    experiment: &dyn Experiment<S>,
    workers: &mut Workers,
    part: u64,
    options: &Common,
    progress: &ProgressBar,
) -> Result<Vec<Cell<S>>, Failure> {
    let (cells, rounds, wanted) = (workers.begin(part)?, experiment.rounds(), experiment.wanted(options));
    let records = record(|round| workers.round(round), rounds, wanted, options, progress)?;
    Ok(evaluated(experiment, cells, &records, workers.number(), part, options))
}

/// Takes a round that is not counted, if the experiment wants that. The order in which the others go, which `drawn` tells from that of
/// others.
pub(super) fn begin<S>(
    experiment: &mut dyn Experiment<S>,
    drawn: u64,
    options: &Common,
    progress: &ProgressBar,
) -> Result<Order, Failure> {
    let cells = experiment.cells();
    let order = || Order::of(&cells, experiment.phases(), Random::new(options.seed, Purpose::Order, drawn));
    let (mut uncounted, counted) = (order(), order());
    if experiment.rounds().warms_up && !options.quick {
        run_round(experiment, &cells, u64::MAX, &mut uncounted, progress)?;
    }
    Ok(counted)
}

/// What all rounds found, by arm.
fn record(
    mut take: impl FnMut(u64) -> Result<ByArm<Sample>, Failure>,
    rounds: Rounds,
    wanted: Option<u32>,
    options: &Common,
    progress: &ProgressBar,
) -> Result<ByArm<Record>, Failure> {
    let mut records: ByArm<Record> = Vec::new();
    let watch = Stopwatch::start();
    for round in 0..rounds.most(wanted, options.quick) {
        if rounds.are_enough(wanted, round, watch.elapsed()) {
            break;
        }
        let samples = take(round.into())?;
        records.resize_with(samples.len(), Vec::new);
        for (records, samples) in records.iter_mut().zip(samples) {
            records.resize_with(samples.len(), Record::default);
            records.iter_mut().zip(samples).for_each(|(record, sample)| record.add(sample));
        }
        progress.inc(1);
    }
    Ok(records)
}

/// The cells with what was found. The rounds were taken in turn by so many `processes`.
fn evaluated<S>(
    experiment: &dyn Experiment<S>,
    mut cells: Vec<Cell<S>>,
    records: &ByArm<Record>,
    processes: usize,
    part: u64,
    options: &Common,
) -> Vec<Cell<S>> {
    let mut resampling = Random::new(options.seed, Purpose::Resampling, part);
    for (cell, records) in cells.iter_mut().zip(records) {
        evaluate(experiment, cell, records, processes, &mut resampling);
    }
    cells
}

/// The order of arms, by phase and cell, from one round to the next.
#[derive(Debug)]
pub(super) struct Order {
    balances: Vec<Vec<Balance>>,
    random: Random,
}

impl Order {
    fn of<S>(cells: &[Cell<S>], phases: usize, random: Random) -> Self {
        let balances = vec![cells.iter().map(|cell| Balance::of(cell.arms.len())).collect(); phases];
        Order { balances, random }
    }

    fn next(&mut self, phase: usize, cell: usize) -> &[usize] {
        self.balances[phase][cell].next(&mut self.random)
    }
}

pub(super) fn run_round<S>(
    experiment: &mut dyn Experiment<S>,
    cells: &[Cell<S>],
    round: u64,
    order: &mut Order,
    progress: &ProgressBar,
) -> Result<ByArm<Sample>, Failure> {
    let mut samples: ByArm<Sample> =
        cells.iter().map(|cell| vec![Sample::default(); cell.arms.len()]).collect();
    for phase in 0..experiment.phases() {
        for (cell, Cell { title, .. }) in cells.iter().enumerate() {
            progress.set_message(title.clone());
            for turn in 0..experiment.turns() {
                for &arm in order.next(phase, cell) {
                    let window = Window { cell, arm, round, phase, turn };
                    samples[cell][arm].merge(experiment.sample(&window)?);
                    progress.tick();
                }
            }
        }
    }
    Ok(samples)
}

impl Record {
    fn add(&mut self, sample: Sample) {
        for (key, figure) in sample.figures() {
            self.samples.entry(key).or_default().push(figure);
        }
        for (key, values) in sample.into_values() {
            self.values.entry(key).and_modify(|there| there.merge(&values)).or_insert(values);
        }
    }

    fn distributions(&self) -> BTreeMap<String, Distribution> {
        let of_values = |(key, values): (&String, &Values)| {
            let (count, missing) = (values.count(), values.missing());
            (key.clone(), Distribution { count, missing, curve: values.curve() })
        };
        self.values.iter().map(of_values).collect()
    }
}

fn evaluate<S>(
    experiment: &dyn Experiment<S>,
    cell: &mut Cell<S>,
    records: &[Record],
    processes: usize,
    resampling: &mut Random,
) {
    for (place, record) in records.iter().enumerate() {
        let mut together: BTreeMap<String, f64> =
            record.values.iter().flat_map(|(key, values)| figures_of(key, values)).collect();
        let mut figures = BTreeMap::new();
        let finite = record.samples.iter().filter(|(_, samples)| samples.iter().all(|one| one.is_finite()));
        for (key, samples) in finite {
            let base = experiment.base(cell, key).filter(|base| *base != cell.arms[place].key);
            let place_of = |base| cell.arms.iter().position(|arm| arm.key == base);
            let pairs = base.and_then(|base| records[place_of(base)?].samples.get(key));
            let ratio = pairs.and_then(|pairs| ratio(samples, pairs, cell.interval, processes, resampling));
            let base = base.filter(|_| ratio.is_some()).map(str::to_owned);
            let value = together.remove(key).unwrap_or_else(|| stats::median(samples));
            figures.insert(key.clone(), Figure { value, ratio, base, samples: samples.clone() });
        }
        cell.arms[place].figures = figures;
        cell.arms[place].distributions = record.distributions();
    }
}

fn ratio(
    samples: &[f64],
    base: &[f64],
    interval: Interval,
    processes: usize,
    resampling: &mut Random,
) -> Option<Estimate> {
    match interval {
        Interval::Confidence95 => stats::paired(samples, base, processes, resampling),
        Interval::RangeOfRepetitions => {
            stats::finite_ratios(samples, base).as_deref().map(stats::median_and_range)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Rounds, arms};

    /// Samples drift from round to round; those of a cell do so together.
    struct Drifting;

    impl Experiment<()> for Drifting {
        fn cells(&self) -> Vec<Cell<()>> {
            let named = ["a", "a", "b", "c"].map(|key| (key.to_owned(), key.to_owned()));
            vec![Cell::new("first", (), arms(named.clone())), Cell::new("second", (), arms(named))]
        }

        fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
            let speed = [1.0, 1.0, 3.0, 4.0][window.arm] * 10_f64.powi(window.cell as i32);
            let mut waits = Values::default();
            waits.add(speed * (window.round + 1) as f64);
            let sample = Sample::default().with_number("time", speed * (window.round + 1) as f64);
            Ok(sample.with_values("wait", waits).with_number("nothing", f64::NAN))
        }

        fn rounds(&self) -> Rounds {
            Rounds { usual: 4, limit: None, warms_up: false }
        }

        fn base<'a>(&self, _cell: &'a Cell<()>, figure: &str) -> Option<&'a str> {
            Some(if figure == "wait.p99" { "b" } else { "a" })
        }

        fn turns(&self) -> usize {
            2
        }
    }

    fn cells() -> Vec<Cell<()>> {
        let options = Common { seed: 1, ..Common::default() };
        run(&mut Drifting, 0, &options, &ProgressBar::hidden()).unwrap()
    }

    #[test]
    fn ratios_are_to_the_base_of_the_round() {
        let cells = cells();
        let [first, again, own, _] = &cells[1].arms[..] else { panic!("four arms") };
        assert_eq!(own.ratio("time"), Some(Estimate { median: 3.0, low: 3.0, high: 3.0 }));
        assert_eq!(own.samples("time"), [30.0, 60.0, 90.0, 120.0]);
        assert_eq!((own.value("time"), own.value("wait.max")), (Some(75.0), Some(120.0)));
        assert_eq!((first.ratio("time"), again.ratio("time").map(|found| found.median)), (None, Some(1.0)));
        assert_eq!((own.counts("wait"), cells[0].rounds()), ((8, 0), 4));
    }

    #[test]
    fn a_figure_may_have_a_base_of_its_own() {
        let arms = &cells()[0].arms;
        assert_eq!(
            (arms[2].ratio("wait.p99"), arms[2].ratio("wait.p50").map(|found| found.median)),
            (None, Some(3.0))
        );
        assert!(arms[0].ratio("wait.p99").is_some());
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        assert!(cells().iter().flat_map(|cell| &cell.arms).all(|arm| arm.value("nothing").is_none()));
    }
}
