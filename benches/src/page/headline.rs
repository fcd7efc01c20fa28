//! A line of the first screen: one number, its interval, and what it comes to in words.

use crate::numbers::{interval, ratio};
use crate::stats::Estimate;
use crate::stats::conclusion::Interval;

pub const TIME_PER_POLL: &str = "Time per poll ÷ LocalSet’s";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Cost,
    Gain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
}

/// What a ratio comes to. The whole interval has a say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Gain,
    Loss,
    Even,
    /// There is no interval, or the number is no ratio.
    Unjudged,
}

#[derive(Clone, Debug)]
pub struct Headline {
    pub side: Side,
    /// What was measured. Lines of one topic stand together.
    pub topic: String,
    /// Of what. A second line of the same topic and label, from another file, is left out.
    pub label: String,
    pub value: String,
    /// Its interval, and of what kind that is.
    pub interval: String,
    pub words: String,
    pub outcome: Outcome,
    /// The part of the program that measured it.
    pub command: String,
    /// Its part in the sentence on top, if it has one.
    pub phrase: Option<String>,
}

impl Headline {
    /// The line of a ratio, if there is that.
    pub fn ratio(
        side: Side,
        (topic, label): (impl Into<String>, impl Into<String>),
        value: Option<Estimate>,
        kind: Option<Interval>,
        better: Better,
        command: &str,
    ) -> Option<Self> {
        let value = &value?;
        Some(Headline {
            side,
            topic: topic.into(),
            label: match kind {
                Some(Interval::RangeOfRepetitions) => format!("{} (range)", label.into()),
                _ => label.into(),
            },
            // Never broken before the sign.
            value: format!("{}\u{a0}×", ratio(value.median)),
            interval: kind.map_or_else(|| "no interval".to_owned(), |_| interval(value)),
            words: words(value),
            outcome: kind.map_or(Outcome::Unjudged, |_| better.outcome(value)),
            command: command.to_owned(),
            phrase: None,
        })
    }

    /// The same, with a part in the sentence on top: in `phrase`, the number stands for `#`.
    pub fn with_phrase(mut self, phrase: &str) -> Self {
        self.phrase = Some(phrase.replace('#', &self.value));
        self
    }

    pub fn is_like(&self, other: &Headline) -> bool {
        (&self.topic, &self.label) == (&other.topic, &other.label)
    }
}

impl Better {
    pub fn outcome(self, value: &Estimate) -> Outcome {
        let (gain, loss) = match self {
            Better::Less => (value.high < 1.0, value.low > 1.0),
            Better::More => (value.low > 1.0, value.high < 1.0),
        };
        match (gain, loss) {
            (true, _) => Outcome::Gain,
            (_, true) => Outcome::Loss,
            _ => Outcome::Even,
        }
    }
}

impl Outcome {
    /// The word beside the number, which does not depend on colours.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Gain => "better",
            Outcome::Loss => "worse",
            Outcome::Even => "even",
            Outcome::Unjudged => "",
        }
    }
}

fn words(value: &Estimate) -> String {
    let percent = (value.median - 1.0) * 100.0;
    match percent.round() {
        0.0 => "the same to 1 %".to_owned(),
        less if less < 0.0 => format!("{:.0} % less", -less),
        more if more <= 100.0 => format!("{more:.0} % more"),
        _ => format!("{:.1} times as much", value.median),
    }
}

/// The sentence on top: what it costs, and what it gains.
pub fn answer(headlines: &[Headline]) -> String {
    let phrases = |side: Side| {
        let lines = || headlines.iter().filter(|headline| headline.side == side);
        let phrases: Vec<String> = lines().filter_map(|line| line.phrase.clone()).collect();
        match (phrases.as_slice(), lines().next()) {
            ([], None) => None,
            ([], Some(first)) => Some(format!("{}, {}: {}", first.topic, first.label, first.value)),
            _ => Some(phrases.join(", ")),
        }
    };
    let costs = phrases(Side::Cost).unwrap_or_else(|| "what it costs has not been measured".to_owned());
    let gains = phrases(Side::Gain).unwrap_or_else(|| "what it gains has not been measured".to_owned());
    format!("Next to tokio’s LocalSet: {costs}; {gains}.")
}

/// The lines of one side by topic, in the order in which the topics come up.
pub fn by_topic(headlines: &[Headline], side: Side) -> Vec<(&str, Vec<&Headline>)> {
    let mut topics: Vec<(&str, Vec<&Headline>)> = Vec::new();
    for line in headlines.iter().filter(|line| line.side == side) {
        match topics.iter_mut().find(|(topic, _)| *topic == line.topic) {
            Some((_, lines)) => lines.push(line),
            None => topics.push((&line.topic, vec![line])),
        }
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(side: Side, [median, low, high]: [f64; 3], better: Better) -> Headline {
        let (value, kind) = (Some(Estimate { median, low, high }), Some(Interval::Confidence95));
        Headline::ratio(side, ("Time", "FIFO"), value, kind, better, "compare").unwrap()
    }

    #[test]
    fn a_loss_is_called_one() {
        let cases = [
            ([0.32, 0.31, 0.33], Better::Less, Outcome::Gain, "68 % less"),
            ([0.9, 0.88, 0.92], Better::More, Outcome::Loss, "10 % less"),
            ([1.2, 1.1, 1.3], Better::Less, Outcome::Loss, "20 % more"),
            ([3.25, 3.1, 3.4], Better::Less, Outcome::Loss, "3.2 times as much"),
            ([1.02, 0.99, 1.05], Better::More, Outcome::Even, "2 % more"),
            ([1.002, 1.001, 1.003], Better::Less, Outcome::Loss, "the same to 1 %"),
        ];
        for (value, better, outcome, words) in cases {
            let line = line(Side::Cost, value, better);
            assert_eq!((line.outcome, line.words.as_str()), (outcome, words), "{value:?}");
        }
    }

    #[test]
    fn the_answer_names_both_sides_or_says_what_is_missing() {
        let cost = line(Side::Cost, [0.32, 0.31, 0.33], Better::Less).with_phrase("a poll takes #");
        let gain = line(Side::Gain, [0.68, 0.6, 0.7], Better::Less).with_phrase("p99 is #");
        let sentence = answer(&[cost.clone(), gain]);
        assert_eq!(sentence, "Next to tokio’s LocalSet: a poll takes 0.32\u{a0}×; p99 is 0.68\u{a0}×.");
        assert!(answer(&[cost]).ends_with("; what it gains has not been measured."));
        let plain = answer(&[line(Side::Gain, [0.68, 0.6, 0.7], Better::Less)]);
        assert!(plain.ends_with("what it costs has not been measured; Time, FIFO: 0.68\u{a0}×."), "{plain}");
    }

    #[test]
    fn lines_of_a_topic_stand_together() {
        let line = |topic: &str, label: &str| Headline {
            topic: topic.to_owned(),
            label: label.to_owned(),
            ..line(Side::Cost, [1.0; 3], Better::Less)
        };
        let lines = [line("a", "1"), line("b", "2"), line("a", "3")];
        let topics = by_topic(&lines, Side::Cost).into_iter();
        let labels: Vec<(&str, String)> =
            topics.map(|(topic, lines)| (topic, lines.iter().map(|line| &*line.label).collect())).collect();
        assert_eq!(labels, [("a", "13".to_owned()), ("b", "2".to_owned())]);
        assert!(by_topic(&lines, Side::Gain).is_empty());
    }
}
