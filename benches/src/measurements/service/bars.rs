//! What was set as the aim for the service on tokio, beside what was found.

use super::arm::Arm;
use super::cell::{CHUNKS, Shape};
use crate::harness::report::Cell;
use crate::serving::host::Host;
use crate::stats::conclusion::{Bar, Conclusion};

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

/// The bars of all cells that have one.
pub fn of(cells: &[Cell<Shape>]) -> Vec<Conclusion> {
    cells.iter().filter(|cell| cell.shape.host == Host::Tokio).flat_map(of_cell).collect()
}

fn of_cell(cell: &Cell<Shape>) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    for arm in [Arm::Imports, Arm::ImportsTokioYield, Arm::TwoQueues] {
        let Bars { mean, p99, chunks } = Bars::of(arm, &cell.shape);
        for (quantity, figure, bar) in [
            ("mean", "latency_ns.mean", mean),
            ("p99", "latency_ns.p99", p99),
            ("chunks per second", CHUNKS, chunks),
        ] {
            let (load, title) = (cell.shape.load(), arm.title(cell.shape.host));
            let named = format!("{quantity}, compactors: {load}, {title} ÷ LocalSet");
            conclusions.extend(bar.and_then(|bar| cell.conclude(arm.key(), figure, named, Some(bar))));
        }
    }
    conclusions
}

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
    use crate::harness::report::{Arm as Found, Figure, arms};
    use crate::stats::Estimate;

    fn cell(compactors: u32, chunk_us: Option<u32>) -> Cell<Shape> {
        let shape = Shape { host: Host::Tokio, compactors, chunk_us, window_s: 1.0 };
        let mut arms = arms(Arm::on(Host::Tokio).map(|arm| (arm.key().to_owned(), arm.title(Host::Tokio))));
        let compare = |arm: &mut Found| {
            let ratio = Some(Estimate { median: 0.1, low: 0.1, high: 0.1 });
            let figure = || Figure { ratio, base: Some(Arm::Native.key().to_owned()), ..Figure::default() };
            let figures = ["latency_ns.mean", "latency_ns.p99", CHUNKS];
            arm.figures = figures.map(|key| (key.to_owned(), figure())).into();
        };
        arms[1..].iter_mut().for_each(compare);
        Cell::new("", shape, arms)
    }

    #[test]
    fn every_cell_has_the_bars_that_were_set_for_it() {
        let limits = |compactors, chunk| {
            of(&[cell(compactors, chunk)]).into_iter().filter_map(|bar| bar.bar).collect::<Vec<_>>()
        };
        let (most, least) = (Bar::AtMost, Bar::AtLeast);
        let usual = [most(0.15), most(0.15), least(0.95), most(0.6), most(0.6), least(0.95), most(0.12)];
        assert_eq!(limits(16, Some(100)), [&usual[..], &[least(0.9)]].concat());
        let other = [most(1.05), most(1.05), least(0.95), most(1.05), most(1.05), least(0.95), least(0.9)];
        assert_eq!(limits(16, Some(20)), other);
        assert_eq!(limits(0, None)[..2], [most(1.03), most(1.03)]);
    }
}
