//! Counts beside budgets, and what follows.

use clockworker_terminal::numbers::NOTHING;
use clockworker_terminal::table::{Column, Table};

use crate::budgets::{Budget, Budgets, REWRITE};
use crate::callgrind::Count;
use crate::operations::Operation;
use crate::toolchain::{Comparable, Toolchain};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Unbudgeted,
    Within,
    /// It takes fewer instructions than it may, by more than is tolerated the other way.
    Below,
    Slower,
    Allocates,
}

impl Verdict {
    /// Of `count`, where instructions may exceed their budget by that part of it, or by anything.
    fn of(count: &Count, budget: Option<Budget>, tolerance: Option<f64>) -> Verdict {
        let Some(budget) = budget else { return Verdict::Unbudgeted };
        if count.allocations > budget.allocations {
            return Verdict::Allocates;
        }
        let change = change(count, budget);
        match tolerance {
            Some(tolerance) if change > tolerance => Verdict::Slower,
            Some(tolerance) if change < -tolerance => Verdict::Below,
            _ => Verdict::Within,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Verdict::Unbudgeted | Verdict::Within => "",
            Verdict::Below => "below",
            Verdict::Slower => "TOO MANY",
            Verdict::Allocates => "ALLOCATES",
        }
    }
}

/// By what part of the budget the count differs from it.
fn change(count: &Count, budget: Budget) -> f64 {
    count.instructions / budget.instructions - 1.0
}

fn percent(part: f64) -> String {
    let percent = part * 100.0;
    // No "-0.0 %".
    if percent.abs() < 0.05 { "0 %".to_owned() } else { format!("{percent:+.1} %") }
}

/// An operation's count beside its budget.
struct Row<'a> {
    operation: Operation,
    count: &'a Count,
    budget: Option<Budget>,
    verdict: Verdict,
}

impl Row<'_> {
    /// What a column of budgets shows.
    fn of_budget(&self, show: impl FnOnce(Budget) -> String) -> String {
        self.budget.map_or_else(|| NOTHING.to_owned(), show)
    }

    fn complaint(&self) -> Option<String> {
        let (key, count, budget) = (self.operation.key, self.count, self.budget?);
        match self.verdict {
            Verdict::Allocates => {
                Some(format!("{key}: {} allocations, budget {}", count.allocations, budget.allocations))
            }
            Verdict::Slower => Some(format!(
                "{key}: {:.2} instructions, budget {:.2}: {}",
                count.instructions,
                budget.instructions,
                percent(change(count, budget))
            )),
            Verdict::Unbudgeted | Verdict::Within | Verdict::Below => None,
        }
    }
}

pub(crate) struct Comparison<'a> {
    /// What the budgets were written with.
    then: &'a Toolchain,
    now: Toolchain,
    comparable: Comparable,
    rows: Vec<Row<'a>>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(budgets: &'a Budgets, counts: &'a [(Operation, Count)]) -> Self {
        let (then, now) = (&budgets.toolchain, Toolchain::present());
        let comparable = Comparable::between(then, &now);
        let row = |(operation, count): &'a (Operation, Count)| {
            let budget = budgets.get(*operation);
            let verdict = Verdict::of(count, budget, comparable.tolerance());
            Row { operation: *operation, count, budget, verdict }
        };
        Comparison { then, now, comparable, rows: counts.iter().map(row).collect() }
    }

    pub(crate) fn table(&self) -> Table {
        let columns: [Column<&Row<'_>>; 8] = [
            ("operation", |row| row.operation.title.to_owned()),
            ("key", |row| row.operation.key.to_owned()),
            ("instructions:\nbudget", |row| row.of_budget(|budget| format!("{:.2}", budget.instructions))),
            ("now", |row| format!("{:.2}", row.count.instructions)),
            ("change", |row| row.of_budget(|budget| percent(change(row.count, budget)))),
            ("allocations:\nbudget", |row| row.of_budget(|budget| budget.allocations.to_string())),
            ("now", |row| row.count.allocations.to_string()),
            ("", |row| row.verdict.label().to_owned()),
        ];
        Table::of("Counts beside their budgets", &self.rows, columns).with_words(2)
    }

    /// What the reader is to know beside the table: that the comparison is not exact, that budgets can be lowered.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let Comparison { then, now, .. } = self;
        match self.comparable {
            Comparable::Exactly => {}
            Comparable::Roughly => notices.push(format!(
                "ANOTHER TOOLCHAIN: the budgets are for {then}, this is {now}. Instructions may exceed them by 10 % \
                 here instead of 2 %. When the project moves to this toolchain, {REWRITE}."
            )),
            Comparable::Allocations => notices.push(format!(
                "ANOTHER TARGET: the budgets are for {then}, this is {now}. Instructions are NOT CHECKED here, only \
                 allocations."
            )),
        }
        let below = self.rows.iter().filter(|row| row.verdict == Verdict::Below);
        let below: Vec<&str> = below.map(|row| row.operation.key).collect();
        if !below.is_empty() {
            let below = below.join(", ");
            notices.push(format!("below budget, so that it guards less than it could: {below}; {REWRITE}."));
        }
        notices
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        let over: Vec<String> = self.rows.iter().filter_map(Row::complaint).collect();
        let look = "to see where they are, `cargo run --release -p clockworker-budgets -- profile KEY`, here and at the \
                    commit before";
        (!over.is_empty()).then(|| format!("over budget: {}; {look}; {REWRITE}", over.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_of_instructions_and_by_toolchain() {
        use Comparable::{Allocations, Exactly, Roughly};
        for (instructions, allocations, comparable, verdict) in [
            (101.9, 1.0, Exactly, Verdict::Within),
            (102.1, 1.0, Exactly, Verdict::Slower),
            (98.1, 1.0, Exactly, Verdict::Within),
            (97.9, 1.0, Exactly, Verdict::Below),
            (100.0, 1.0001, Exactly, Verdict::Allocates),
            (50.0, 2.0, Exactly, Verdict::Allocates),
            (100.0, 0.0, Exactly, Verdict::Within),
            (109.9, 1.0, Roughly, Verdict::Within),
            (110.1, 1.0, Roughly, Verdict::Slower),
            (300.0, 1.0, Allocations, Verdict::Within),
            (300.0, 2.0, Allocations, Verdict::Allocates),
        ] {
            let budget = Budget { instructions: 100.0, allocations: 1.0 };
            let count = Count { instructions, allocations, functions: Vec::new() };
            assert_eq!(Verdict::of(&count, Some(budget), comparable.tolerance()), verdict, "{count:?}");
        }
    }

    #[test]
    fn percentages_have_a_sign() {
        assert_eq!([0.0, -0.0001, 0.021, -0.5].map(percent), ["0 %", "0 %", "+2.1 %", "-50.0 %"]);
    }
}
