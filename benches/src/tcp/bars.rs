//! What was set as the aim for an echo server, beside what was found.

use super::options::Section;
use super::report::{CellReport, OpenReport};
use crate::harness::conclusion::{Bar, Conclusion, Interval};
use crate::serving::host::Host;
use crate::stats::Estimate;

/// Bytes of the messages that bars are set for.
const BYTES: u32 = 1_024;

/// What Clockworker's throughput is to be of the native spawn's, by connections.
const THROUGHPUT: [(u32, f64); 3] = [(1, 0.95), (64, 0.98), (100, 0.98)];

/// What its p99.9 may be of the native spawn's, where there are so many connections.
const TAIL: (u32, f64) = (64, 1.05);

/// The bars of all cells that have one.
pub fn draw(cells: &[CellReport]) -> Vec<Conclusion> {
    cells.iter().filter(|cell| is_judged(cell)).flat_map(judge).collect()
}

fn is_judged(cell: &CellReport) -> bool {
    cell.shape.section == Section::Plain && cell.shape.bytes == BYTES && cell.shape.host != Host::Smol
}

fn judge(cell: &CellReport) -> Vec<Conclusion> {
    let connections = cell.shape.connections;
    let Some(&(_, least)) = THROUGHPUT.iter().find(|(number, _)| *number == connections) else {
        return Vec::new();
    };
    let Some(arm) = cell.arms.iter().find(|arm| arm.arm == "clockworker") else { return Vec::new() };
    let throughput = arm.closed.rate_ratio.map(|ratio| {
        conclusion(format!("Throughput, {}, Clockworker ÷ native", cell.title), ratio, Bar::AtLeast(least))
    });
    let (fewest, most) = TAIL;
    let tail = |open: &OpenReport| {
        let [.., p999] = open.latency_ratios?;
        let quantity = format!("p99.9 at {} % load, {}, Clockworker ÷ native", open.load, cell.title);
        Some(conclusion(quantity, p999, Bar::AtMost(most)))
    };
    let tails = arm.open.iter().filter(|_| connections >= fewest).filter_map(tail);
    throughput.into_iter().chain(tails).collect()
}

fn conclusion(quantity: String, value: Estimate, bar: Bar) -> Conclusion {
    Conclusion { quantity, value, interval: Interval::Confidence95, bar: Some(bar), verdict: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::harness::conclusion::Verdict;
    use crate::harness::options::options_of;
    use crate::serving::client::{Closed, Open};
    use crate::serving::command::Usage;
    use crate::spread::Values;
    use crate::tcp::cell::{Cell, plan};
    use crate::tcp::samples::{ClosedSample, OpenSample, OpenSamples, Samples};

    fn cells(line: &str) -> Vec<Cell> {
        plan(&options_of(&format!("--hosts tokio --loads 50 {line}")).unwrap())
    }

    /// Ten rounds, in which the machine grows slower: one arm has so many echoes, and so long a latency.
    fn samples(arms: &[(u64, u64)]) -> Samples {
        let closed = |&(echoes, _): &(u64, u64)| {
            let closed =
                |round: u64| Closed { echoes: echoes * (20 - round), elapsed: Duration::from_secs(1) };
            (0..10).map(|round| ClosedSample { closed: closed(round), usage: Usage::default() }).collect()
        };
        let open = |&(_, nanos): &(u64, u64)| {
            let mut samples = OpenSamples::default();
            for round in 1..=10 {
                let latencies = Values::of_nanos((0..10).map(|_| Some(nanos * round)));
                let open = Open { latencies, elapsed: Duration::from_secs(1), ..Open::default() };
                samples.add(1.0, &OpenSample { open, usage: Usage::default() });
            }
            samples
        };
        Samples {
            drivers: vec![String::new(); arms.len()],
            closed: arms.iter().map(closed).collect(),
            open: vec![arms.iter().map(open).collect()],
        }
    }

    fn judged(line: &str, clockworker: (u64, u64)) -> Vec<Conclusion> {
        let samples = samples(&[(1_000, 1_000), clockworker]);
        let reports: Vec<CellReport> =
            cells(line).iter().map(|cell| CellReport::new(cell, &samples, 1)).collect();
        let mut bars = draw(&reports);
        bars.iter_mut().for_each(|bar| bar.settle(true));
        bars
    }

    fn verdicts(line: &str, clockworker: (u64, u64)) -> Vec<Option<Verdict>> {
        judged(line, clockworker).iter().map(|bar| bar.verdict).collect()
    }

    #[test]
    fn ratios_are_those_of_each_round() {
        let [throughput, tail] = &judged("--connections 64", (990, 1_200))[..] else { panic!("two bars") };
        assert_eq!((throughput.value.low, throughput.value.high), (0.99, 0.99));
        assert!((tail.value.median - 1.2).abs() < 0.002, "{:?}: three digits", tail.value);
        assert_eq!((throughput.verdict, tail.verdict), (Some(Verdict::Met), Some(Verdict::Missed)));
    }

    #[test]
    fn one_connection_has_a_bar_of_its_own_and_none_for_tails() {
        assert_eq!(verdicts("--connections 1", (960, 9_000)), [Some(Verdict::Met)]);
        assert_eq!(verdicts("--connections 100", (960, 900)), [Some(Verdict::Missed), Some(Verdict::Met)]);
    }

    #[test]
    fn other_cells_have_none() {
        assert!(verdicts("--connections 1000", (900, 900)).is_empty());
        assert!(verdicts("--connections 64 --sizes 64,4096", (900, 900)).is_empty());
    }
}
