//! The bars that the project has set itself.

use super::groups::FEW_TASKS;
use super::measure::Topic;
use super::section::Section;
use crate::harness::report::Cell;
use crate::stats;
use crate::stats::conclusion::{Bar, Conclusion, Interval};

/// The arm that the bars are for.
const WOKEN_FIRST: &str = "woken_first";

/// What was found in the sections there are.
pub fn of(cells: &[Cell<Topic>], seed: u64) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    conclusions.extend(growth(cells, WOKEN_FIRST, Some(Bar::AtMost(3.0)), seed));
    conclusions.extend(growth(cells, "local_set", None, seed));
    conclusions.extend(picks(cells, seed));
    conclusions.extend(groups(cells));
    conclusions.extend(allocations(cells));
    conclusions.extend(idle(cells));
    conclusions.extend(memory(cells));
    conclusions.extend(remote(cells));
    conclusions
}

/// The cells of a table.
fn table<'a>(
    cells: &'a [Cell<Topic>],
    section: Section,
    key: &'a str,
) -> impl Iterator<Item = &'a Cell<Topic>> {
    let is_in = move |topic: &Topic| {
        topic.section == section && topic.quantities.iter().any(|quantity| quantity.key == key)
    };
    cells.iter().filter(move |cell| is_in(&cell.shape))
}

/// The samples of an arm in the cell at that place of a table.
fn samples<'a>(
    cells: &'a [Cell<Topic>],
    (section, key, place): (Section, &'a str, usize),
    arm: &str,
) -> Option<&'a [f64]> {
    let samples = table(cells, section, key).nth(place)?.arm(arm)?.samples(key);
    (!samples.is_empty()).then_some(samples)
}

/// From 1,000 tasks to 1,000,000.
fn growth(cells: &[Cell<Topic>], arm: &str, bar: Option<Bar>, seed: u64) -> Option<Conclusion> {
    let samples = |place| samples(cells, (Section::Polls, "ns_per_poll", place), arm);
    let value = stats::paired_by_seed(samples(4)?, samples(2)?, seed)?;
    let quantity = format!("Time per poll, {arm}, 1,000,000 tasks ÷ 1,000");
    Some(Conclusion::new(quantity, value, Interval::Confidence95, bar))
}

fn picks(cells: &[Cell<Topic>], seed: u64) -> impl Iterator<Item = Conclusion> {
    let key = "ns_per_pick";
    let bars = [("64", "64", 30.0), ("1024", "1,024", 100.0)];
    let all =
        bars.into_iter().flat_map(move |bar| table(cells, Section::Queues, key).map(move |cell| (bar, cell)));
    all.filter_map(move |((arm, queues, limit), cell)| {
        let value = stats::estimated_by_seed(cell.arm(arm)?.samples(key), seed)?;
        let quantity = format!("ns per pick, {queues} queues, {}", cell.title);
        Some(Conclusion::new(quantity, value, Interval::Confidence95, Some(Bar::AtMost(limit))))
    })
}

/// Up to 10,000 groups.
fn groups(cells: &[Cell<Topic>]) -> impl Iterator<Item = Conclusion> {
    table(cells, Section::Groups, FEW_TASKS).filter_map(|cell| {
        let quantity = format!("Time per poll, {}, 10,000 groups ÷ 1", cell.title);
        cell.conclude("10000", FEW_TASKS, quantity, Some(Bar::AtMost(1.25)))
    })
}

fn allocations(cells: &[Cell<Topic>]) -> impl Iterator<Item = Conclusion> {
    [(0, "poll"), (1, "wake")].into_iter().filter_map(|(place, name)| {
        let samples = samples(cells, (Section::Memory, "allocations", place), WOKEN_FIRST)?;
        Some(none_of(format!("Allocations per {name}"), samples))
    })
}

fn idle(cells: &[Cell<Topic>]) -> Option<Conclusion> {
    let samples = samples(cells, (Section::Idle, "host_polls", 0), WOKEN_FIRST)?;
    Some(none_of("Host polls in an idle second".to_owned(), samples))
}

/// What there is to be none of, in all rounds.
fn none_of(quantity: String, samples: &[f64]) -> Conclusion {
    let value = stats::median_and_range(samples);
    Conclusion::new(quantity, value, Interval::RangeOfRepetitions, Some(Bar::AtMost(0.0)))
}

fn memory(cells: &[Cell<Topic>]) -> Option<Conclusion> {
    let key = "bytes_per_task";
    let quantity = "Bytes per parked task beyond the future ÷ LocalSet's".to_owned();
    table(cells, Section::Memory, key).next()?.conclude(WOKEN_FIRST, key, quantity, Some(Bar::AtMost(1.0)))
}

fn remote(cells: &[Cell<Topic>]) -> impl Iterator<Item = Conclusion> {
    let quantities = [
        ("remote_wake_sender_ns", "Wake from another thread, the sender's time"),
        ("remote_wake_p50_ns", "Wake from another thread until the poll, p50"),
    ];
    quantities.into_iter().flat_map(move |(key, name)| {
        table(cells, Section::Wake, key).filter_map(move |cell| {
            let quantity = format!("{name}, {} ÷ LocalSet's", cell.title);
            cell.conclude(WOKEN_FIRST, key, quantity, Some(Bar::AtMost(1.0)))
        })
    })
}
