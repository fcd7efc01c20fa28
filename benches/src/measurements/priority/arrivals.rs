//! Foreground tasks, drawn before the run: when each arrives and what it does.

use std::time::Duration;

use crate::random::{Purpose, between, gap, random};

/// Between two tasks, on average. With two segments of 300 µs on average, they take 60 % of a core.
const MEAN_GAP: Duration = Duration::from_millis(1);
const MOST_SEGMENTS: u64 = 3;
/// The bounds of both a segment's CPU time and a pause's length.
const SHORTEST: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_micros(500);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it arrives, from the start of the schedule: the moment all of its times count from.
    pub at: Duration,
    pub segments: Vec<Segment>,
}

/// A stretch of work, and the pause before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub pause: Duration,
    pub cpu: Duration,
}

/// The arrivals of a Poisson process over `length`, the same for the same seed and part.
pub fn draw(seed: u64, part: u64, length: Duration) -> Vec<Arrival> {
    let mut random = random(seed, Purpose::Arrivals, part);
    let mut arrivals = Vec::new();
    let mut at = gap(&mut random, MEAN_GAP);
    while at < length {
        let count = random.u64(1..=MOST_SEGMENTS);
        let mut length = || between(&mut random, SHORTEST, LONGEST);
        let segment =
            |index| Segment { pause: if index == 0 { Duration::ZERO } else { length() }, cpu: length() };
        arrivals.push(Arrival { at, segments: (0..count).map(segment).collect() });
        at += gap(&mut random, MEAN_GAP);
    }
    arrivals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_come_in_order_at_the_rate_with_segments_within_the_bounds() {
        let length = Duration::from_secs(100);
        let arrivals = draw(1, 0, length);
        assert!(arrivals == draw(1, 0, length) && arrivals != draw(2, 0, length));
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.at) && arrivals.last().unwrap().at < length);
        // A Poisson count of mean 100,000 has a standard deviation of 316.
        assert!((98_700..101_300).contains(&arrivals.len()), "{}", arrivals.len());
        let range = SHORTEST..=LONGEST;
        for Arrival { segments, .. } in &arrivals {
            assert!((1..=3).contains(&segments.len()) && segments[0].pause.is_zero());
            assert!(segments.iter().all(|segment| range.contains(&segment.cpu)));
            assert!(segments[1..].iter().all(|segment| range.contains(&segment.pause)));
        }
        let cpu: Duration =
            arrivals.iter().flat_map(|arrival| &arrival.segments).map(|segment| segment.cpu).sum();
        let load = cpu.as_secs_f64() / length.as_secs_f64();
        assert!((0.58..0.62).contains(&load), "two segments of 300 µs each millisecond, found {load}");
    }
}
