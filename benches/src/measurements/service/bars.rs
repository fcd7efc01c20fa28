//! What was set as the aim for the service on tokio, beside what was found.

use super::arm::Arm;
use super::{CHUNKS, Shape};
use crate::harness::report::Cell;
use crate::serving::host::Host;
use crate::stats::conclusion::{Bar, Conclusion};

/// The chunks that bars are set for by the number of compactors. Without compactors there are no chunks, and the bar is that
/// of this length.
const CHUNK_US: u32 = 100;

struct Aim {
    arm: Arm,
    /// The mean latency by compactors, in cells of [`CHUNK_US`].
    latency: &'static [(u32, f64)],
    /// The latency in every other cell. An arm that has such a bar has all bars of the mean for the p99 too.
    elsewhere: Option<f64>,
    chunks: f64,
}

const IMPORTS: &[(u32, f64)] = &[(0, 1.03), (1, 1.03), (4, 0.5), (16, 0.15)];
const TOKIO_YIELD: &[(u32, f64)] = &[(4, 0.6), (16, 0.6)];
const TWO_QUEUES: &[(u32, f64)] = &[(1, 1.05), (16, 0.12)];

const AIMS: [Aim; 3] = [
    Aim { arm: Arm::Imports, latency: IMPORTS, elsewhere: Some(1.05), chunks: 0.95 },
    Aim { arm: Arm::ImportsTokioYield, latency: TOKIO_YIELD, elsewhere: Some(1.05), chunks: 0.95 },
    Aim { arm: Arm::TwoQueues, latency: TWO_QUEUES, elsewhere: None, chunks: 0.9 },
];

pub(super) fn of(cells: &[Cell<Shape>]) -> Vec<Conclusion> {
    let on_tokio = cells.iter().filter(|cell| cell.shape.host == Host::Tokio);
    on_tokio.flat_map(|cell| AIMS.iter().flat_map(|aim| aim.bars(cell))).collect()
}

impl Aim {
    fn bars(&self, cell: &Cell<Shape>) -> impl Iterator<Item = Conclusion> {
        let Shape { host, compactors, chunk_us, .. } = cell.shape;
        let usual = chunk_us.is_none_or(|chunk| chunk == CHUNK_US);
        let listed = self.latency.iter().find(|(number, _)| usual && *number == compactors);
        let latency = listed.map(|(_, limit)| *limit).or(self.elsewhere).map(Bar::AtMost);
        let bars = [
            ("mean", "latency_ns.mean", latency),
            ("p99", "latency_ns.p99", latency.filter(|_| self.elsewhere.is_some())),
            ("chunks per second", CHUNKS, Some(Bar::AtLeast(self.chunks))),
        ];
        bars.into_iter().filter_map(move |(quantity, figure, bar)| {
            let (load, title) = (cell.shape.load(), self.arm.title(host));
            let named = format!("{quantity}, compactors: {load}, {title} ÷ LocalSet");
            cell.conclude(&self.arm.key(), figure, named, Some(bar?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::report::{Figure, arms};
    use crate::stats::Estimate;

    fn cell(compactors: u32, chunk_us: Option<u32>) -> Cell<Shape> {
        let shape = Shape { host: Host::Tokio, compactors, chunk_us, window_s: 1.0 };
        let mut arms = arms(Arm::on(Host::Tokio).map(|arm| (arm.key(), arm.title(Host::Tokio))));
        let ratio = Some(Estimate { median: 0.1, low: 0.1, high: 0.1 });
        let figure = Figure { ratio, base: Some(Arm::Native.key()), ..Figure::default() };
        for arm in &mut arms[1..] {
            let figures = ["latency_ns.mean", "latency_ns.p99", CHUNKS];
            arm.figures = figures.map(|key| (key.to_owned(), figure.clone())).into();
        }
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
