//! What was set as the aim for an echo server, beside what was found.

use super::Shape;
use super::options::Section;
use crate::harness::report::Cell;
use crate::serving::cell::{ECHO_RATE, LATENCY, at_load};
use crate::serving::host::Host;
use crate::stats::conclusion::{Bar, Conclusion};

const BYTES: u32 = 1_024;

/// What Clockworker's throughput is to be of the native spawn's, by connections.
const THROUGHPUT: [(u32, f64); 3] = [(1, 0.95), (64, 0.98), (100, 0.98)];

/// What its p99.9 may be of the native spawn's, where there are so many connections.
const TAIL: (u32, f64) = (64, 1.05);

pub(super) fn of(cells: &[Cell<Shape>]) -> Vec<Conclusion> {
    let judged = |cell: &&Cell<Shape>| {
        let Shape { section, bytes, host, .. } = cell.shape;
        section == Section::Plain && bytes == BYTES && host != Host::Smol
    };
    cells.iter().filter(judged).flat_map(of_cell).collect()
}

fn of_cell(cell: &Cell<Shape>) -> Vec<Conclusion> {
    let connections = cell.shape.connections;
    let Some(&(_, least)) = THROUGHPUT.iter().find(|(number, _)| *number == connections) else {
        return Vec::new();
    };
    let conclude = |what: &str, figure: &str, bar| {
        let named = format!("{what}, {}, Clockworker ÷ native", cell.title);
        cell.conclude("clockworker", figure, named, Some(bar))
    };
    let throughput = conclude("Throughput", ECHO_RATE, Bar::AtLeast(least));
    let (fewest, most) = TAIL;
    let loads = cell.shape.loads.iter().filter(|_| connections >= fewest);
    let tails = loads.filter_map(|&load| {
        let figure = format!("{}.p999", at_load(load, LATENCY));
        conclude(&format!("p99.9 at {load} % load"), &figure, Bar::AtMost(most))
    });
    throughput.into_iter().chain(tails).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::experiment::Experiment;
    use crate::harness::options::options_of;
    use crate::harness::pinning::Pinning;
    use crate::harness::report::Figure;
    use crate::stats::Estimate;

    /// The bars of cells in which all ratios are 1.
    fn limits(line: &str) -> Vec<Option<Bar>> {
        let options = options_of(&format!("--hosts tokio --loads 50 {line}")).unwrap();
        let plan = super::super::cells(&options, &Pinning::detect());
        let mut cells: Vec<Cell<Shape>> = plan.iter().flat_map(Experiment::cells).collect();
        for arm in cells.iter_mut().flat_map(|cell| &mut cell.arms[1..]) {
            let ratio = Some(Estimate { median: 1.0, low: 1.0, high: 1.0 });
            let figure = || Figure { ratio, base: Some("native".to_owned()), ..Figure::default() };
            arm.figures = [ECHO_RATE, "load_50_latency_ns.p999"].map(|key| (key.to_owned(), figure())).into();
        }
        of(&cells).iter().map(|bar| bar.bar).collect()
    }

    #[test]
    fn bars_are_by_connections_and_only_many_have_one_for_tails() {
        let bars = [0.95, 0.98].map(|least| Some(Bar::AtLeast(least)));
        let tail = Some(Bar::AtMost(1.05));
        assert_eq!(limits("--connections 1,64"), [bars[0], bars[1], tail]);
        assert_eq!(limits("--connections 100"), [bars[1], tail]);
    }

    #[test]
    fn other_cells_have_none() {
        for line in ["--connections 1000", "--connections 64 --sizes 64,4096", "--only background"] {
            assert!(limits(line).is_empty(), "{line}");
        }
    }
}
