//! Values for one queue or for all: `20us`, `background=100us`.

use std::fmt;
use std::str::FromStr;

use clockworker_schedulers::simulate::{format_ns, parse_ns};

/// A value, and the queue that it is for; `None` for all that have none of their own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PerQueue<T> {
    pub(crate) queue: Option<String>,
    pub(crate) value: T,
}

impl<T: FromStr> FromStr for PerQueue<T> {
    type Err = T::Err;

    /// The queue's name is what stands before a `=`, unless a `:` comes first: that is part of a distribution.
    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text.split_once('=') {
            Some((queue, value)) if !queue.contains(':') => {
                Ok(Self { queue: Some(queue.trim().to_owned()), value: value.trim().parse()? })
            }
            _ => Ok(Self { queue: None, value: text.trim().parse()? }),
        }
    }
}

impl<T: Clone> PerQueue<T> {
    /// What a queue is given: the last value for it, or else the last for all.
    pub(crate) fn of(values: &[Self], queue: &str) -> Option<T> {
        let last = |of: Option<&str>| values.iter().rev().find(|value| value.queue.as_deref() == of);
        last(Some(queue)).or_else(|| last(None)).map(|value| value.value.clone())
    }
}

/// A time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) u64);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_ns(text).map(|ns| Time(ns.round() as u64)).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_ns(self.0 as f64))
    }
}

/// What is asked of the thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    /// This part of it, by jobs that come at random.
    Part(f64),
    /// All that can be had: there is always work.
    Busy,
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "busy" {
            return Ok(Load::Busy);
        }
        let part = text.parse::<f64>().ok().filter(|part| *part > 0.0 && *part <= 1_000.0);
        part.map(Load::Part).ok_or_else(|| format!("'{text}' is no load: a number above 0, or busy"))
    }
}

#[cfg(test)]
mod tests {
    use clockworker_schedulers::simulate::Service;

    use super::*;

    #[test]
    fn a_queue_may_be_named_in_front() {
        let value: PerQueue<Time> = "back=100us".parse().unwrap();
        assert_eq!(value, PerQueue { queue: Some("back".to_owned()), value: Time(100_000) });
        let value: PerQueue<Service> = "exponential:mean=20us".parse().unwrap();
        assert_eq!(value, PerQueue { queue: None, value: Service::exponential(20_000.0).unwrap() });
        let value: PerQueue<Service> = "front=constant:size=1us".parse().unwrap();
        assert_eq!(value.queue.as_deref(), Some("front"));
    }

    #[test]
    fn a_queues_own_value_goes_before_that_of_all() {
        let values: Vec<PerQueue<Load>> =
            ["a=0.1", "0.2", "a=busy", "0.3"].map(|text| text.parse().unwrap()).to_vec();
        assert_eq!(PerQueue::of(&values, "a"), Some(Load::Busy));
        assert_eq!(PerQueue::of(&values, "b"), Some(Load::Part(0.3)));
        assert_eq!(PerQueue::of(&values[..1], "b"), None);
    }

    #[test]
    fn what_is_no_load_is_refused() {
        for text in ["0", "-1", "idle", "nan", "1e9", ""] {
            assert!(text.parse::<Load>().is_err(), "{text}");
        }
    }
}
