//! What was set as the aim for an echo server, beside what was found.

use super::options::Section;
use super::report::{CellReport, OpenReport};
use super::setup::Host;
use crate::conclusions::{Bar, Conclusion, Interval};
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
