//! [`Comparison`]: what an experiment has found.

use std::collections::BTreeMap;

use serde::Serialize;

use super::experiment::{Experiment, Window};
use super::rounds::places;
use super::sample::Sample;
use super::sign_test;

/// The place where the base is measured again (A/A).
const AGAIN: usize = 1;

#[derive(Debug, Serialize)]
pub struct Comparison {
    pub part: String,
    pub title: String,
    pub rounds: usize,
    /// The base, the base again, and the other arms.
    pub arms: Vec<Arm>,
}

#[derive(Debug, Serialize)]
pub struct Arm {
    pub title: String,
    pub figures: BTreeMap<String, Figure>,
}

/// A number of an arm. A distribution has one for each of its statistics.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// Of all rounds: the median of the samples, or what all values of a distribution have together.
    pub value: f64,
    /// To the base; none of the base itself.
    pub ratio: Option<Ratio>,
    /// By round.
    pub samples: Vec<f64>,
}

/// The median of ratios that were each taken within a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub median: f64,
    /// In which the true median is with a probability of 95 %; none of fewer than six rounds.
    pub interval: Option<[f64; 2]>,
    pub rounds: usize,
    /// Whether its interval contains 1, or overlaps that of the base measured again.
    pub undecided: bool,
}

impl Ratio {
    /// The ratios of samples that were taken in the same rounds, if all of them are numbers.
    pub fn of(samples: &[f64], base: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = samples.iter().zip(base).map(|(sample, base)| sample / base).collect();
        let are_pairs = !ratios.is_empty() && samples.len() == base.len();
        if !are_pairs || ratios.iter().any(|ratio| !ratio.is_finite()) {
            return None;
        }
        let interval = sign_test::interval(&ratios);
        let undecided = interval.is_some_and(contains_one);
        Some(Ratio { median: sign_test::median(&ratios), interval, rounds: ratios.len(), undecided })
    }

    /// The same, undecided also if its interval overlaps that of the base to itself.
    fn doubted(self, again: Option<Ratio>) -> Self {
        let (Some([low, high]), Some([again_low, again_high])) =
            (self.interval, again.and_then(|again| again.interval))
        else {
            return self;
        };
        let overlaps = low <= again_high && again_low <= high;
        Ratio { undecided: self.undecided || overlaps, ..self }
    }
}

fn contains_one([low, high]: [f64; 2]) -> bool {
    (low..=high).contains(&1.0)
}

impl Comparison {
    /// What samples say that were taken in whole rounds.
    pub fn of(experiment: &dyn Experiment, samples: Vec<(Window, Sample)>) -> Self {
        let titles = experiment.arms();
        let places = places(titles.len());
        let mut by_place: Vec<BTreeMap<u32, Sample>> = vec![BTreeMap::new(); places.len()];
        for (window, sample) in samples {
            by_place[window.place].entry(window.round).or_default().merge(sample);
        }
        let rounds = by_place[0].len();
        let records: Vec<Record> = by_place.into_iter().map(Record::of).collect();
        let arm = |(place, &arm): (usize, &usize)| Arm {
            title: title(&titles[arm], place),
            figures: figures(experiment, &records, place),
        };
        Comparison {
            part: experiment.part().to_owned(),
            title: experiment.title().to_owned(),
            rounds,
            arms: places.iter().enumerate().map(arm).collect(),
        }
    }

    pub fn figure(&self, arm: &str, figure: &str) -> Option<&Figure> {
        self.arms.iter().find(|found| found.title == arm)?.figures.get(figure)
    }
}

fn title(arm: &str, place: usize) -> String {
    if place == AGAIN { format!("{arm} again (A/A)") } else { arm.to_owned() }
}

/// What there is of a place.
struct Record {
    /// By figure and round.
    samples: BTreeMap<String, Vec<f64>>,
    /// Of the values of all rounds.
    together: BTreeMap<String, f64>,
}

impl Record {
    fn of(by_round: BTreeMap<u32, Sample>) -> Self {
        let mut samples: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let (rounds, mut all) = (by_round.len(), Sample::default());
        for sample in by_round.into_values() {
            for (figure, value) in sample.figures() {
                samples.entry(figure).or_default().push(value);
            }
            all.merge(sample);
        }
        samples.retain(|_, samples| samples.len() == rounds);
        Record { samples, together: all.statistics().collect() }
    }
}

fn figures(experiment: &dyn Experiment, records: &[Record], place: usize) -> BTreeMap<String, Figure> {
    let figure = |(key, samples): (&String, &Vec<f64>)| {
        let value = records[place].together.get(key).copied();
        let value = value.unwrap_or_else(|| sign_test::median(samples));
        let ratio = ratio(records, key, base(experiment, key, place), place);
        (key.clone(), Figure { value, ratio, samples: samples.clone() })
    };
    records[place].samples.iter().map(figure).collect()
}

/// The place with which a figure of a place is compared.
fn base(experiment: &dyn Experiment, figure: &str, place: usize) -> usize {
    let arm = if place == AGAIN { 0 } else { experiment.base(figure) };
    // The base again is between the first arm and the others.
    if arm == 0 { 0 } else { arm + 1 }
}

fn ratio(records: &[Record], figure: &str, base: usize, place: usize) -> Option<Ratio> {
    let of = |place: usize, base: usize| {
        Ratio::of(records[place].samples.get(figure)?, records[base].samples.get(figure)?)
    };
    if place == base {
        return None;
    }
    let ratio = of(place, base)?;
    Some(if place == AGAIN { ratio } else { ratio.doubted(of(AGAIN, 0)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::rounds::windows;
    use crate::harness::{Distribution, Sampling};

    /// All samples of a round are larger by a factor that no other round has.
    fn drifting(window: &Window) -> Sample {
        let speed = [1.0, 3.0, 4.0][window.arm];
        let time = speed * f64::from(window.round + 1);
        let waits = Distribution::of_nanos([Some(time as u64)]);
        Sample::default().number("time", time).distribution("wait", waits)
    }

    fn compared(experiment: &dyn Experiment, rounds: u32, take: fn(&Window) -> Sample) -> Comparison {
        let places = places(experiment.arms().len());
        let all = (0..rounds).flat_map(|round| windows(1, 0, round, &places, experiment.phases()));
        Comparison::of(experiment, all.map(|window| (window, take(&window))).collect())
    }

    fn arms() -> Vec<String> {
        ["base", "slow", "slower"].map(str::to_owned).to_vec()
    }

    fn experiment() -> Sampling {
        Sampling::new("part", "title", arms(), |_| unreachable!("samples are given"))
    }

    #[test]
    fn ratios_are_to_the_base_of_the_round() {
        let found = compared(&experiment(), 8, drifting);
        let ratio = |arm, figure| found.figure(arm, figure).unwrap().ratio;
        let exact = |median| Ratio { median, interval: Some([median; 2]), rounds: 8, undecided: false };
        assert_eq!(ratio("slow", "time"), Some(exact(3.0)));
        assert_eq!(ratio("slower", "wait.p99"), Some(exact(4.0)));
        assert_eq!(ratio("base", "time"), None);
        assert_eq!(ratio("base again (A/A)", "time"), Some(Ratio { undecided: true, ..exact(1.0) }));
        let slow = found.figure("slow", "time").unwrap();
        assert_eq!((slow.value, slow.samples[7]), (13.5, 24.0));
        assert_eq!(found.figure("slow", "wait.max").unwrap().value, 24.0);
    }

    #[test]
    fn a_few_rounds_have_a_median_and_no_interval() {
        let found = compared(&experiment(), 5, drifting);
        let wanted = Ratio { median: 3.0, interval: None, rounds: 5, undecided: false };
        assert_eq!(found.figure("slow", "time").unwrap().ratio, Some(wanted));
    }

    #[test]
    fn what_the_base_differs_from_itself_by_is_undecided() {
        // The base measured again is up to a fifth slower than the base.
        let found = compared(&experiment(), 8, |window| {
            let slower = window.place == AGAIN && window.round.is_multiple_of(2);
            let noise = if slower { 1.2 } else { 1.0 };
            Sample::default().number("time", [1.0, 1.1, 1.3][window.arm] * noise)
        });
        let undecided = |arm| found.figure(arm, "time").unwrap().ratio.unwrap().undecided;
        assert!(undecided("slow") && !undecided("slower"));
    }

    #[test]
    fn a_figure_that_is_not_in_all_rounds_is_left_out() {
        let found = compared(&experiment(), 8, |window| {
            Sample::default().number("time", if window.round == 3 { f64::NAN } else { 1.0 })
        });
        assert!(found.figure("slow", "time").is_none());
    }

    struct OwnBase(Sampling);

    impl Experiment for OwnBase {
        fn part(&self) -> &str {
            self.0.part()
        }

        fn title(&self) -> &str {
            self.0.title()
        }

        fn arms(&self) -> &[String] {
            self.0.arms()
        }

        fn base(&self, figure: &str) -> usize {
            if figure == "time" { 1 } else { 0 }
        }

        fn phases(&self) -> usize {
            2
        }

        fn sample(&mut self, _window: &Window) -> anyhow::Result<Sample> {
            unreachable!("samples are given")
        }
    }

    #[test]
    fn a_figure_can_have_a_base_of_its_own_and_phases_are_put_together() {
        let found = compared(&OwnBase(experiment()), 8, |window| match window.phase {
            0 => drifting(window),
            _ => Sample::default().number("second", 1.0),
        });
        let median = |arm, figure| found.figure(arm, figure).unwrap().ratio.map(|ratio| ratio.median);
        assert_eq!([median("base", "time"), median("slow", "time")], [Some(1.0 / 3.0), None]);
        assert_eq!(median("base again (A/A)", "time"), Some(1.0));
        assert_eq!((median("slow", "wait.p50"), median("slow", "second")), (Some(3.0), Some(1.0)));
    }
}
