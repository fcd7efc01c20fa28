//! What `programs` says: each quantity of a program as it was found, and how they look together.

use super::program::{Arm, QUANTITIES, Quantity};
use super::{Programs, Shape};
use crate::harness::{Cell, Report, again, report};
use crate::numbers::{NOTHING, compared};
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, Table};
use crate::stats::{Bar, Conclusion, Estimate, Interval};

pub(super) struct Finding<'a> {
    quantity: Quantity,
    value: f64,
    base: &'a report::Arm,
    cell: &'a Cell<Shape>,
}

pub(super) fn findings(cells: &[Cell<Shape>]) -> impl Iterator<Item = Finding<'_>> {
    let based = cells.iter().filter_map(|cell| Some((cell, cell.arm(Arm::Base.key())?)));
    based.flat_map(|(cell, base)| {
        let finding = move |quantity: Quantity| {
            Some(Finding { quantity, value: base.value(quantity.key)?, base, cell })
        };
        QUANTITIES.into_iter().filter_map(finding)
    })
}

impl Finding<'_> {
    fn name(&self) -> String {
        format!("{}, {}", self.cell.title, self.quantity.title)
    }

    fn ratio(&self, arm: &str) -> Option<Estimate> {
        self.cell.arm(arm)?.ratio(self.quantity.key)
    }

    fn limit(&self) -> Option<f64> {
        self.quantity.is_judged().then_some(self.cell.shape.limit)
    }

    fn judged(&self) -> Option<Estimate> {
        self.ratio(Arm::Clockworker.key()).filter(|_| self.limit().is_some())
    }

    pub(super) fn conclusion(&self) -> Option<Conclusion> {
        let bar = Bar::MiddleAtMost(self.limit()?);
        let named = format!("{} ÷ {}'s", self.name(), self.base.title);
        self.cell.conclude(Arm::Clockworker.key(), self.quantity.key, named, Some(bar))
    }
}

pub(super) fn of(report: &Report<Programs>) -> Chapter {
    let findings: Vec<Finding<'_>> = findings(&report.cells).collect();
    let (times, others): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.quantity.is_time());
    let section = Section {
        method: format!(
            "Each program is one function, compiled with tokio’s imports and with Clockworker’s. Medians of {} rounds; ratios are \
             medians of pairs measured in the same round, with 95 % intervals; A/A is the base’s to itself. Bars that are met \
             are not listed.",
            report.cells.iter().map(Cell::rounds).max().unwrap_or(0)
        ),
        plots: [plot("Time", times), plot("Tails and memory", others)].into_iter().flatten().collect(),
        tables: vec![table(&findings)],
        hides_met: true,
        ..report.section("Programs with their imports changed")
    };
    Chapter { headlines: headlines(&findings).collect(), sections: vec![section] }
}

/// The program that loses most, and the one that gains most.
fn headlines(findings: &[Finding<'_>]) -> impl Iterator<Item = Headline> {
    let judged = || findings.iter().filter_map(|finding| Some((finding, finding.judged()?)));
    let line = |(side, found): (Side, Option<(&Finding<'_>, Estimate)>)| {
        let (finding, ratio) = found?;
        let label = format!("{}, {}", finding.cell.shape.program, finding.quantity.title);
        let (names, kind) = (("Imports changed ÷ LocalSet’s", label), Some(Interval::Confidence95));
        Headline::ratio(side, names, Some(ratio), kind, Better::Less, "programs")
    };
    let by_median = |one: &(&Finding<'_>, Estimate), other: &(&Finding<'_>, Estimate)| {
        one.1.median.total_cmp(&other.1.median)
    };
    let ends = [(Side::Cost, judged().max_by(by_median)), (Side::Gain, judged().min_by(by_median))];
    ends.into_iter().filter_map(line)
}

fn plot(title: &str, findings: Vec<&Finding<'_>>) -> Option<Plot> {
    let bars = findings.into_iter().map(|finding| (finding.name(), finding.judged()));
    let title = format!("{title} of programs with their imports changed");
    Plot::ratios(title, "× what they were written for, 95 % intervals: less is better", Better::Less, bars)
}

fn table(findings: &[Finding<'_>]) -> Table {
    Table::of(
        "Programs, with tokio’s imports and with Clockworker’s",
        findings,
        [
            ("program", |finding: &&Finding<'_>| finding.cell.shape.program.clone()),
            ("what it does", |finding| finding.cell.title.clone()),
            ("measured", |finding| finding.quantity.title.to_owned()),
            ("of", |finding| finding.base.title.clone()),
            ("base", |finding| finding.quantity.show(finding.value)),
            ("× base", |finding| compared(finding.ratio(Arm::Clockworker.key()).as_ref())),
            ("A/A", |finding| compared(finding.ratio(&again(Arm::Base.key())).as_ref())),
            ("wanted", |finding| {
                finding.limit().map_or_else(|| NOTHING.to_owned(), |limit| format!("≤ {limit:.2}"))
            }),
        ],
    )
    .with_words(4)
}
