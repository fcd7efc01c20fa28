//! Counts beside budgets, and what follows.

use std::fmt::{self, Write};

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::budgets::{Budget, Budgets, REWRITE};
use crate::callgrind::Count;
use crate::operations::Operation;
use crate::toolchain::{Comparable, Toolchain};

/// What a count says about the code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// There is no budget.
    Unbudgeted,
    /// It takes what it may.
    Within,
    /// It takes fewer instructions than it may, by more than is tolerated the other way.
    Below,
    /// It takes too many instructions.
    Slower,
    /// It allocates more often than it may.
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

    fn is_failure(self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Allocates)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Unbudgeted | Verdict::Within => "",
            Verdict::Below => "below",
            Verdict::Slower => "TOO MANY",
            Verdict::Allocates => "ALLOCATES",
        })
    }
}

/// By what part of the budget the count differs from it.
fn change(count: &Count, budget: Budget) -> f64 {
    count.instructions / budget.instructions - 1.0
}

/// All counts beside their budgets.
#[derive(Debug)]
pub struct Comparison<'a> {
    budgets: &'a Budgets,
    present: &'a Toolchain,
    comparable: Comparable,
    counts: &'a [(Operation, Count)],
}

impl<'a> Comparison<'a> {
    /// Compares counts, taken with the toolchain `present`.
    pub fn new(budgets: &'a Budgets, present: &'a Toolchain, counts: &'a [(Operation, Count)]) -> Self {
        let comparable = Comparable::between(&budgets.toolchain, present);
        Comparison { budgets, present, comparable, counts }
    }

    fn verdicts(&self) -> impl Iterator<Item = (Operation, &Count, Verdict)> {
        self.counts.iter().map(|(operation, count)| {
            let verdict = Verdict::of(count, self.budgets.get(*operation), self.comparable.tolerance());
            (*operation, count, verdict)
        })
    }

    /// The table.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header([
            "operation",
            "key",
            "instructions:\nbudget",
            "now",
            "change",
            "allocations:\nbudget",
            "now",
            "",
        ]);
        for (operation, count, verdict) in self.verdicts() {
            let budget = self.budgets.get(operation);
            let or_nothing = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
            table.add_row(
                [
                    operation.title.to_owned(),
                    operation.key.to_owned(),
                    or_nothing(budget.map(|budget| format!("{:.2}", budget.instructions))),
                    format!("{:.2}", count.instructions),
                    or_nothing(budget.map(|budget| percent(change(count, budget)))),
                    or_nothing(budget.map(|budget| budget.allocations.to_string())),
                    count.allocations.to_string(),
                    verdict.to_string(),
                ]
                .map(Cell::new),
            );
        }
        for column in table.column_iter_mut().skip(2).take(5) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    /// What the reader is to know beside the table: that the comparison is not exact, that budgets can be lowered.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let (then, now) = (&self.budgets.toolchain, self.present);
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
        let below = self.keys(|verdict| verdict == Verdict::Below);
        if !below.is_empty() {
            notices.push(format!("below budget, so that it guards less than it could: {below}; {REWRITE}."));
        }
        notices
    }

    /// What is over budget, if anything.
    pub fn complaint(&self) -> Option<String> {
        let mut complaint = String::from("over budget:");
        let mut failed = false;
        for (operation, count, verdict) in self.verdicts().filter(|(.., verdict)| verdict.is_failure()) {
            let Some(budget) = self.budgets.get(operation) else { continue };
            failed = true;
            let key = operation.key;
            let _ = match verdict {
                Verdict::Allocates => {
                    write!(
                        complaint,
                        "\n  {key}: {} allocations, budget {}",
                        count.allocations, budget.allocations
                    )
                }
                _ => write!(
                    complaint,
                    "\n  {key}: {:.2} instructions, budget {:.2}: {}",
                    count.instructions,
                    budget.instructions,
                    percent(change(count, budget))
                ),
            };
        }
        let look = "to see where they are, `cargo run --release -p clockworker-budgets -- profile KEY`, here and at the \
                    commit before";
        let _ = write!(complaint, "\n{look}; {REWRITE}");
        failed.then_some(complaint)
    }

    fn keys(&self, which: impl Fn(Verdict) -> bool) -> String {
        let keys: Vec<&str> = self
            .verdicts()
            .filter(|&(.., verdict)| which(verdict))
            .map(|(operation, ..)| operation.key)
            .collect();
        keys.join(", ")
    }
}

fn percent(part: f64) -> String {
    let percent = part * 100.0;
    // No "-0.0 %".
    if percent.abs() < 0.05 { "0 %".to_owned() } else { format!("{percent:+.1} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(instructions: f64, allocations: f64, comparable: Comparable) -> Verdict {
        let budget = Budget { instructions: 100.0, allocations: 1.0 };
        let count = Count { instructions, allocations, functions: Vec::new() };
        Verdict::of(&count, Some(budget), comparable.tolerance())
    }

    #[test]
    fn two_percent_are_tolerated_and_no_allocation() {
        let exactly = |instructions, allocations| verdict(instructions, allocations, Comparable::Exactly);
        assert_eq!(exactly(101.9, 1.0), Verdict::Within);
        assert_eq!(exactly(102.1, 1.0), Verdict::Slower);
        assert_eq!(exactly(98.1, 1.0), Verdict::Within);
        assert_eq!(exactly(97.9, 1.0), Verdict::Below);
        assert_eq!(exactly(100.0, 1.0001), Verdict::Allocates);
        assert_eq!(exactly(50.0, 2.0), Verdict::Allocates);
        assert_eq!(exactly(100.0, 0.0), Verdict::Within);
    }

    #[test]
    fn another_toolchain_has_more_room_another_target_any() {
        assert_eq!(verdict(109.9, 1.0, Comparable::Roughly), Verdict::Within);
        assert_eq!(verdict(110.1, 1.0, Comparable::Roughly), Verdict::Slower);
        assert_eq!(verdict(300.0, 1.0, Comparable::Allocations), Verdict::Within);
        assert_eq!(verdict(300.0, 2.0, Comparable::Allocations), Verdict::Allocates);
    }

    #[test]
    fn percentages_have_a_sign() {
        assert_eq!([0.0, -0.0001, 0.021, -0.5].map(percent), ["0 %", "0 %", "+2.1 %", "-50.0 %"]);
    }
}
