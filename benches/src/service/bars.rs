//! What was set as the aim for the service on tokio, beside what was found.

use super::arm::Arm;
use super::cell::Shape;
use super::report::{ArmReport, CellReport};
use crate::conclusions::{Bar, Conclusion, Interval};
use crate::stats::Estimate;
use crate::tcp::setup::Host;

/// The chunks that bars are set for by the number of compactors. Without compactors there are no chunks, and the bar is that
/// of this length.
const CHUNK_US: u32 = 100;

/// What latencies may be of LocalSet's, by compactors: with the imports alone, also with tokio's own `yield_now`, and in
/// every other cell.
const IMPORTS: [(u32, f64); 4] = [(0, 1.03), (1, 1.03), (4, 0.5), (16, 0.15)];
const IMPORTS_TOKIO_YIELD: [(u32, f64); 2] = [(4, 0.6), (16, 0.6)];
const OTHER_CELLS: f64 = 1.05;

/// What the mean may be of LocalSet's with two queues, by compactors; there is no bar in other cells.
const TWO_QUEUES: [(u32, f64); 2] = [(1, 1.05), (16, 0.12)];

/// What the compactors must get of what they get on LocalSet.
const CHUNKS_BY_IMPORTS: f64 = 0.95;
const CHUNKS_IN_TWO_QUEUES: f64 = 0.9;

/// The bars of all cells that have one; `judged` is whether the run was a measurement.
pub fn draw(cells: &[CellReport], judged: bool) -> Vec<Conclusion> {
    cells.iter().filter(|cell| cell.shape.host == Host::Tokio).flat_map(|cell| judge(cell, judged)).collect()
}

fn judge(cell: &CellReport, judged: bool) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    for arm in [Arm::Imports, Arm::ImportsTokioYield, Arm::TwoQueues] {
        let Some(report) = cell.arm(arm) else { continue };
        let bars = Bars::of(arm, &cell.shape);
        for (quantity, of, bar) in [
            ("mean", (|arm| Some(arm.latency_ratios?.mean)) as Ratio, bars.mean),
            ("p99", |arm| Some(arm.latency_ratios?.p99), bars.p99),
            ("chunks per second", |arm| arm.chunk_ratio, bars.chunks),
        ] {
            let (Some(value), Some(bar)) = (of(report), bar) else { continue };
            let mut conclusion = Conclusion {
                quantity: format!(
                    "{quantity}, compactors: {}, {} ÷ LocalSet",
                    cell.shape.load(),
                    report.title
                ),
                value,
                interval: Interval::Confidence95,
                bar: Some(bar),
                verdict: None,
            };
            conclusion.settle(judged);
            if let Some(again) = cell.arm(Arm::NativeAgain).and_then(of) {
                conclusion.doubt(&again);
            }
            conclusions.push(conclusion);
        }
    }
    conclusions
}

/// A ratio of an arm's.
type Ratio = fn(&ArmReport) -> Option<Estimate>;

/// The bars of an arm in a cell.
struct Bars {
    mean: Option<Bar>,
    p99: Option<Bar>,
    chunks: Option<Bar>,
}

impl Bars {
    fn of(arm: Arm, shape: &Shape) -> Self {
        let usual = shape.chunk_us.is_none_or(|chunk| chunk == CHUNK_US);
        let find = |limits: &[(u32, f64)]| {
            let of_cell = |(compactors, _): &&(u32, f64)| usual && *compactors == shape.compactors;
            limits.iter().find(of_cell).map(|&(_, limit)| limit)
        };
        let latency = match arm {
            Arm::Imports => Some(find(&IMPORTS).unwrap_or(OTHER_CELLS)),
            Arm::ImportsTokioYield => Some(find(&IMPORTS_TOKIO_YIELD).unwrap_or(OTHER_CELLS)),
            _ => find(&TWO_QUEUES),
        };
        let (p99, chunks) = match arm {
            Arm::TwoQueues => (None, CHUNKS_IN_TWO_QUEUES),
            _ => (latency, CHUNKS_BY_IMPORTS),
        };
        Bars { mean: latency.map(Bar::AtMost), p99: p99.map(Bar::AtMost), chunks: Some(Bar::AtLeast(chunks)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclusions::Verdict;
    use crate::service::report::Figures;

    fn estimate(low: f64, high: f64) -> Estimate {
        Estimate { median: (low + high) / 2.0, low, high }
    }

    fn arm(arm: Arm, ratio: Option<Estimate>) -> ArmReport {
        let figures = |value| Figures { mean: value, p50: value, p99: value, p999: value };
        ArmReport {
            arm: arm.key(),
            title: arm.title(Host::Tokio),
            driver: String::new(),
            latency_ns: Figures { mean: 1.0, p50: 1.0, p99: 1.0, p999: 1.0 },
            latency_ratios: ratio.map(figures),
            chunk_rate: Some(1.0),
            chunk_ratio: ratio,
            late_p99_ns: 0,
            requests: 1,
            unanswered: 0,
            rounds: Vec::new(),
        }
    }

    fn cell(compactors: u32, chunk_us: Option<u32>, again: Estimate, own: Estimate) -> CellReport {
        let shape = Shape { host: Host::Tokio, compactors, chunk_us };
        let arms = vec![
            arm(Arm::Native, None),
            arm(Arm::NativeAgain, Some(again)),
            arm(Arm::Imports, Some(own)),
            arm(Arm::ImportsTokioYield, Some(own)),
            arm(Arm::TwoQueues, Some(own)),
            arm(Arm::Qlas, Some(own)),
        ];
        CellReport { title: String::new(), shape, window_s: 1.0, arms }
    }

    fn bars(cell: CellReport) -> Vec<(Bar, Verdict)> {
        let of = |bar: Conclusion| Some((bar.bar?, bar.verdict?));
        draw(&[cell], true).into_iter().filter_map(of).collect()
    }

    #[test]
    fn every_cell_has_the_bars_that_were_set_for_it() {
        let limits = |compactors, chunk| {
            let cell = cell(compactors, chunk, estimate(1.0, 1.0), estimate(0.1, 0.1));
            bars(cell).into_iter().map(|(bar, _)| bar).collect::<Vec<_>>()
        };
        let (most, least) = (Bar::AtMost, Bar::AtLeast);
        let usual = [most(0.15), most(0.15), least(0.95), most(0.6), most(0.6), least(0.95), most(0.12)];
        assert_eq!(limits(16, Some(100)), [&usual[..], &[least(0.9)]].concat());
        let other = [most(1.05), most(1.05), least(0.95), most(1.05), most(1.05), least(0.95), least(0.9)];
        assert_eq!(limits(16, Some(20)), other);
        assert_eq!(limits(0, None)[..2], [most(1.03), most(1.03)]);
    }

    #[test]
    fn what_no_difference_can_look_like_decides_nothing() {
        let mean = |again, own| bars(cell(1, Some(100), again, own))[0].1;
        assert_eq!(mean(estimate(0.99, 1.01), estimate(1.0, 1.01)), Verdict::Met);
        assert_eq!(mean(estimate(0.97, 1.03), estimate(1.0, 1.01)), Verdict::Undecided);
        assert_eq!(mean(estimate(0.97, 1.03), estimate(2.0, 2.1)), Verdict::Missed);
    }

    #[test]
    fn a_run_that_is_no_measurement_is_not_judged() {
        let cell = cell(1, Some(100), estimate(1.0, 1.0), estimate(1.0, 1.0));
        assert!(draw(&[cell], false).iter().all(|bar| bar.bar.is_none() && bar.verdict.is_none()));
    }
}
