//! Foreground tasks, drawn before the run: when each arrives and what it does.

use std::time::Duration;

use fastrand::Rng;

use crate::random::{Purpose, between, gap, random};

#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub mean_gap: Duration,
    /// Segments of CPU work in a task, at least and at most.
    pub segments: (u64, u64),
    /// The bounds of both a segment's CPU time and a pause's length.
    pub shortest: Duration,
    pub longest: Duration,
}

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

impl Pattern {
    /// 1,000 tasks a second, of one to three segments of 100 to 500 µs: 60 % of a core.
    pub const USUAL: Pattern = Pattern {
        mean_gap: Duration::from_millis(1),
        segments: (1, 3),
        shortest: Duration::from_micros(100),
        longest: Duration::from_micros(500),
    };

    /// The arrivals of a Poisson process over `length`, the same for the same seed and part.
    pub fn draw(&self, seed: u64, part: u64, length: Duration) -> Vec<Arrival> {
        let mut random = random(seed, Purpose::Arrivals, part);
        let mut arrivals = Vec::new();
        let mut at = gap(&mut random, self.mean_gap);
        while at < length {
            arrivals.push(Arrival { at, segments: self.draw_segments(&mut random) });
            at += gap(&mut random, self.mean_gap);
        }
        arrivals
    }

    fn draw_segments(&self, random: &mut Rng) -> Vec<Segment> {
        let (fewest, most) = self.segments;
        let count = random.u64(fewest..=most);
        let mut length = || between(random, self.shortest, self.longest);
        let mut segment =
            |index| Segment { pause: if index == 0 { Duration::ZERO } else { length() }, cpu: length() };
        (0..count).map(&mut segment).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_come_in_order_at_the_rate_with_segments_within_the_bounds() {
        let (usual, length) = (Pattern::USUAL, Duration::from_secs(100));
        let arrivals = usual.draw(1, 0, length);
        assert!(arrivals == usual.draw(1, 0, length) && arrivals != usual.draw(2, 0, length));
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.at) && arrivals.last().unwrap().at < length);
        // A Poisson count of mean 100,000 has a standard deviation of 316.
        assert!((98_700..101_300).contains(&arrivals.len()), "{}", arrivals.len());
        let range = usual.shortest..=usual.longest;
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
