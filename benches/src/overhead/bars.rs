//! The bars that the project has set itself, and whether they are met.

use super::grid::{Cell, Grid};
use super::groups::FEW_TASKS;
use super::report::SectionReport;
use super::section::Section;
use crate::harness::conclusion::{Bar, Conclusion, Interval};
use crate::random::{Purpose, Random};
use crate::stats::{self, Estimate};

/// The arm that the bars are for.
const WOKEN_FIRST: &str = "woken_first";
const LOCAL_SET: &str = "local_set";

/// Draws the conclusions of the sections there are; `judged` is whether the run was a measurement.
pub fn draw(sections: &[SectionReport], seed: u64, judged: bool) -> Vec<Conclusion> {
    let mut drawn = Drawn { sections, resampling: Random::new(seed, Purpose::Resampling, u64::MAX) };
    let mut conclusions = Vec::new();
    conclusions.extend(drawn.growth(WOKEN_FIRST, Some(Bar::AtMost(3.0))));
    conclusions.extend(drawn.growth(LOCAL_SET, None));
    conclusions.extend(drawn.picks());
    conclusions.extend(drawn.groups());
    conclusions.extend(drawn.allocations());
    conclusions.extend(drawn.idle());
    conclusions.extend(drawn.memory());
    conclusions.extend(drawn.remote());
    conclusions.iter_mut().for_each(|conclusion| conclusion.settle(judged));
    conclusions
}

struct Drawn<'a> {
    sections: &'a [SectionReport],
    resampling: Random,
}

impl Drawn<'_> {
    fn grid(&self, section: Section, key: &str) -> Option<&Grid> {
        let found = self.sections.iter().find(|found| found.section == section)?;
        found.grids.iter().find(|grid| grid.quantity.key == key)
    }

    fn cell(&self, section: Section, key: &str, row: &str, shape: usize) -> Option<&Cell> {
        self.grid(section, key)?.cell(row, shape)
    }

    /// From 1,000 tasks to 1,000,000.
    fn growth(&mut self, arm: &str, bar: Option<Bar>) -> Option<Conclusion> {
        let [few, many] = [2, 4].map(|shape| self.cell(Section::Polls, "ns_per_poll", arm, shape));
        let ratios = stats::paired_ratios(&many?.samples, &few?.samples);
        let value = stats::bootstrap_median(&ratios, &mut self.resampling);
        let quantity = format!("Time per poll, {arm}, 1,000,000 tasks ÷ 1,000");
        Some(conclusion(quantity, value, bar))
    }

    fn picks(&mut self) -> Vec<Conclusion> {
        let bars = [("64", 3, 30.0), ("1,024", 5, 100.0)];
        let rows = ["all_runnable", "churning"];
        let all = bars.into_iter().flat_map(|bar| rows.map(|row| (bar, row)));
        all.filter_map(|((queues, shape, limit), row)| {
            let samples = self.cell(Section::Queues, "ns_per_pick", row, shape)?.samples.clone();
            let value = stats::bootstrap_median(&samples, &mut self.resampling);
            Some(conclusion(format!("ns per pick, {queues} queues, {row}"), value, Some(Bar::AtMost(limit))))
        })
        .collect()
    }

    /// Up to 10,000 groups.
    fn groups(&self) -> Vec<Conclusion> {
        let Some(grid) = self.grid(Section::Groups, FEW_TASKS) else { return Vec::new() };
        let ratio = |row: &super::grid::GridRow| {
            let value = row.cells.get(4)?.as_ref()?.ratio?;
            let quantity = format!("Time per poll, {}, 10,000 groups ÷ 1", row.row.title);
            Some(conclusion(quantity, value, Some(Bar::AtMost(1.25))))
        };
        grid.rows.iter().filter_map(ratio).collect()
    }

    fn allocations(&self) -> Vec<Conclusion> {
        let one = |(shape, name)| {
            let cell = self.cell(Section::Memory, "allocations", WOKEN_FIRST, shape)?;
            Some(range(format!("Allocations per {name}"), cell, Bar::AtMost(0.0)))
        };
        [(0, "poll"), (1, "wake")].into_iter().filter_map(one).collect()
    }

    fn idle(&self) -> Option<Conclusion> {
        let cell = self.cell(Section::Idle, "host_polls", WOKEN_FIRST, 0)?;
        Some(range("Host polls in an idle second".to_owned(), cell, Bar::AtMost(0.0)))
    }

    fn memory(&self) -> Option<Conclusion> {
        let cell = self.cell(Section::Memory, "bytes_per_task", WOKEN_FIRST, 0)?;
        let quantity = "Bytes per parked task beyond the future ÷ LocalSet's".to_owned();
        Some(conclusion(quantity, cell.ratio?, Some(Bar::AtMost(1.0))))
    }

    fn remote(&self) -> Vec<Conclusion> {
        let quantities = [
            ("remote_wake_sender_ns", "Wake from another thread, the sender's time"),
            ("remote_wake_p50_ns", "Wake from another thread until the poll, p50"),
        ];
        let all =
            quantities.into_iter().flat_map(|quantity| [(quantity, 0, "busy"), (quantity, 1, "parked")]);
        all.filter_map(|((key, name), shape, host)| {
            let ratio = self.cell(Section::Wake, key, WOKEN_FIRST, shape)?.ratio?;
            Some(conclusion(format!("{name}, host {host} ÷ LocalSet's"), ratio, Some(Bar::AtMost(1.0))))
        })
        .collect()
    }
}

fn conclusion(quantity: String, value: Estimate, bar: Option<Bar>) -> Conclusion {
    Conclusion { quantity, value, interval: Interval::Confidence95, bar, verdict: None }
}

fn range(quantity: String, cell: &Cell, bar: Bar) -> Conclusion {
    let value = stats::median_and_range(&cell.samples);
    Conclusion { quantity, value, interval: Interval::RangeOfRepetitions, bar: Some(bar), verdict: None }
}
