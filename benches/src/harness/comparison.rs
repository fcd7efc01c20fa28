//! [`Comparison`]: what an experiment has found.

use std::collections::BTreeMap;

use serde::Serialize;

use super::experiment::{Experiment, Window};
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
    /// The median of the samples.
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
    fn of(samples: &[f64], base: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = samples.iter().zip(base).map(|(sample, base)| sample / base).collect();
        if ratios.is_empty() || ratios.iter().any(|ratio| !ratio.is_finite()) {
            return None;
        }
        let interval = sign_test::interval(&ratios);
        let undecided = interval.is_some_and(|[low, high]| (low..=high).contains(&1.0));
        Some(Ratio { median: sign_test::median(&ratios), interval, rounds: ratios.len(), undecided })
    }

    fn overlaps(&self, other: &Ratio) -> bool {
        let (Some([low, high]), Some([other_low, other_high])) = (self.interval, other.interval) else {
            return false;
        };
        low <= other_high && other_low <= high
    }
}

/// The samples of a place, by figure and round.
type Record = BTreeMap<String, Vec<f64>>;

impl Comparison {
    /// What samples say that were taken in whole rounds, one after the other, of the arms at these places.
    pub fn of(experiment: &Experiment, places: &[usize], samples: Vec<(Window, Sample)>) -> Self {
        let rounds = samples.len() / places.len();
        let mut records = vec![Record::new(); places.len()];
        for (window, sample) in samples {
            for (figure, value) in sample.into_figures() {
                records[window.place].entry(figure).or_default().push(value);
            }
        }
        records.iter_mut().for_each(|record| record.retain(|_, samples| samples.len() == rounds));
        let arm = |(place, &arm): (usize, &usize)| {
            let again = if place == AGAIN { " again (A/A)" } else { "" };
            Arm { title: format!("{}{again}", experiment.arms[arm]), figures: figures(&records, place) }
        };
        Comparison {
            part: experiment.part.to_owned(),
            title: experiment.title.clone(),
            rounds,
            arms: places.iter().enumerate().map(arm).collect(),
        }
    }

    pub fn figure(&self, arm: &str, figure: &str) -> Option<&Figure> {
        self.arms.iter().find(|found| found.title == arm)?.figures.get(figure)
    }
}

fn figures(records: &[Record], place: usize) -> BTreeMap<String, Figure> {
    let figure = |(key, samples): (&String, &Vec<f64>)| {
        let (value, ratio) = (sign_test::median(samples), ratio(records, key, place));
        (key.clone(), Figure { value, ratio, samples: samples.clone() })
    };
    records[place].iter().map(figure).collect()
}

/// To the first arm that has the figure.
fn ratio(records: &[Record], figure: &str, place: usize) -> Option<Ratio> {
    let base = records.iter().position(|record| record.contains_key(figure))?;
    let of = |place: usize| Ratio::of(records[place].get(figure)?, &records[base][figure]);
    let ratio = of(place).filter(|_| place != base)?;
    let is_doubtful = place != AGAIN && of(AGAIN).is_some_and(|again| ratio.overlaps(&again));
    Some(Ratio { undecided: ratio.undecided || is_doubtful, ..ratio })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::experiment::windows;

    fn compared(rounds: u32, take: fn(&Window) -> Sample) -> Comparison {
        let experiment =
            Experiment::new("part", "title", ["base", "slow", "slower"], |_| unreachable!("they are given"));
        let places = experiment.places(&[]);
        let all = (0..rounds).flat_map(|round| windows(1, 0, round, &places));
        Comparison::of(&experiment, &places, all.map(|window| (window, take(&window))).collect())
    }

    /// All samples of a round are larger by a factor that no other round has. The base has no second figure.
    fn drifting(window: &Window) -> Sample {
        let time = [1.0, 3.0, 4.0][window.arm] * f64::from(window.round + 1);
        Sample::default().number("time", time).number("second", if window.arm == 0 { f64::NAN } else { time })
    }

    #[test]
    fn ratios_are_to_the_base_of_the_round() {
        let found = compared(8, drifting);
        let ratio = |arm, figure| found.figure(arm, figure).unwrap().ratio;
        let exact = |median| Ratio { median, interval: Some([median; 2]), rounds: 8, undecided: false };
        assert_eq!(ratio("slow", "time"), Some(exact(3.0)));
        assert_eq!(ratio("base", "time"), None);
        assert_eq!(ratio("base again (A/A)", "time"), Some(Ratio { undecided: true, ..exact(1.0) }));
        assert_eq!((ratio("slow", "second"), ratio("slower", "second")), (None, Some(exact(4.0 / 3.0))));
        let slow = found.figure("slow", "time").unwrap();
        assert_eq!((slow.value, slow.samples[7]), (13.5, 24.0));
        let few = compared(5, drifting);
        let wanted = Ratio { interval: None, rounds: 5, ..exact(3.0) };
        assert_eq!(few.figure("slow", "time").unwrap().ratio, Some(wanted));
    }

    #[test]
    fn what_the_base_differs_from_itself_by_is_undecided() {
        // The base measured again is up to a fifth slower than the base.
        let found = compared(8, |window| {
            let slower = window.place == AGAIN && window.round.is_multiple_of(2);
            let noise = if slower { 1.2 } else { 1.0 };
            let sample = Sample::default().number("time", [1.0, 1.1, 1.3][window.arm] * noise);
            sample.number("rare", if window.round == 3 { f64::NAN } else { 1.0 })
        });
        let undecided = |arm| found.figure(arm, "time").unwrap().ratio.unwrap().undecided;
        assert!(undecided("slow") && !undecided("slower"));
        assert!(found.figure("slow", "rare").is_none(), "it is not in all rounds");
    }
}
