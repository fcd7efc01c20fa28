//! Counts beside budgets, and what follows.

use std::fmt::Write;

use crate::budgets::{Budget, Budgets, REWRITE, Toolchain};
use crate::callgrind::Count;
use crate::operations::Operation;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Within,
    /// It takes fewer instructions than it may, by more than is tolerated the other way.
    Below,
    Slower,
    Allocates,
}

impl Verdict {
    pub(crate) fn of(count: Count, budget: Budget, tolerance: Option<f64>) -> Verdict {
        let (change, tolerance) = (change(count, budget), tolerance.unwrap_or(f64::INFINITY));
        match () {
            () if count.allocations > budget.allocations => Verdict::Allocates,
            () if change > tolerance => Verdict::Slower,
            () if change < -tolerance => Verdict::Below,
            () => Verdict::Within,
        }
    }
}

/// By what part of the budget the count differs from it.
fn change(count: Count, budget: Budget) -> f64 {
    count.instructions / budget.instructions - 1.0
}

/// Where everything is as it was when the budgets were written.
pub(crate) const EXACTLY: Option<f64> = Some(0.02);
/// With another compiler or other flags, which inline and allocate registers differently.
const ROUGHLY: Option<f64> = Some(0.10);

/// By what part of its budget a count may exceed it. None if it may be anything, as with another instruction set or C library.
fn tolerance(then: &Toolchain, now: &Toolchain) -> Option<f64> {
    if then.target != now.target {
        return None;
    }
    if then == now { EXACTLY } else { ROUGHLY }
}

/// The table of these counts, and what is over budget.
pub(crate) fn compare(budgets: &Budgets, counts: &[(Operation, Count)]) -> (String, Vec<&'static str>) {
    let (then, now) = (&budgets.toolchain, Toolchain::present());
    let tolerance = tolerance(then, &now);
    let (mut below, mut over) = (Vec::new(), Vec::new());
    let heading = ["operation", "instructions", "budget", "change", "allocations"];
    let [operation, instructions, budget, percent, allocations] = heading;
    let mut text =
        format!("{:30}{operation:46}{instructions:>14}{budget:>11}{percent:>9}{allocations:>12}\n", "key");
    for &(Operation { key, title, .. }, count) in counts {
        let Count { instructions, allocations } = count;
        let _ = write!(text, "{key:30}{title:46}{instructions:>14.2}");
        let Some(budget) = budgets.of_key(key) else {
            let _ = writeln!(text, "{:>11}{:>9}{allocations:>12}", "–", "–");
            continue;
        };
        let (percent, verdict) = (change(count, budget) * 100.0, Verdict::of(count, budget, tolerance));
        let _ = write!(text, "{:>11.2}{percent:>+7.1} %{allocations:>12}", budget.instructions);
        match verdict {
            Verdict::Within => {}
            Verdict::Below => below.push(key),
            Verdict::Slower | Verdict::Allocates => over.push(key),
        }
        text += &if verdict == Verdict::Within { "\n".to_owned() } else { format!("  {verdict:?}\n") };
    }
    if tolerance != EXACTLY {
        let allowed = if tolerance.is_none() { "are NOT CHECKED" } else { "may exceed them by 10 %" };
        let _ = writeln!(text, "The budgets are for {then:?}, this is {now:?}. Instructions {allowed} here.");
    }
    if !below.is_empty() {
        let below = below.join(", ");
        let _ = writeln!(text, "Below budget, so that it guards less than it could: {below}; {REWRITE}.");
    }
    (text, over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_of_instructions_and_by_toolchain() {
        for (instructions, allocations, tolerance, verdict) in [
            (101.9, 1.0, EXACTLY, Verdict::Within),
            (102.1, 1.0, EXACTLY, Verdict::Slower),
            (98.1, 0.0, EXACTLY, Verdict::Within),
            (97.9, 1.0, EXACTLY, Verdict::Below),
            (100.0, 1.0001, EXACTLY, Verdict::Allocates),
            (109.9, 1.0, ROUGHLY, Verdict::Within),
            (110.1, 1.0, ROUGHLY, Verdict::Slower),
            (300.0, 1.0, None, Verdict::Within),
            (300.0, 2.0, None, Verdict::Allocates),
        ] {
            let budget = Budget { instructions: 100.0, allocations: 1.0 };
            let count = Count { instructions, allocations };
            assert_eq!(Verdict::of(count, budget, tolerance), verdict, "{count:?}");
        }
        let of = |rustc: &str, target: &str| Toolchain {
            rustc: rustc.into(),
            target: target.into(),
            rustflags: String::new(),
        };
        let others = [of("1.88", "x86_64"), of("1.89", "x86_64"), of("1.88", "aarch64")];
        assert_eq!(others.map(|now| self::tolerance(&of("1.88", "x86_64"), &now)), [EXACTLY, ROUGHLY, None]);
    }
}
