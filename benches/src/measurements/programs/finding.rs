//! One quantity of a program, as it was found.

use super::Shape;
use super::program::Arm;
use super::quantity::{self, Quantity};
use crate::harness::report::{self, Cell, again};
use crate::numbers::compared;
use crate::stats::Estimate;
use crate::stats::conclusion::{Bar, Conclusion};

/// One quantity of a program, as it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding<'a> {
    pub(super) quantity: Quantity,
    /// The median of the base's samples.
    pub(super) value: f64,
    /// What the ratios are to.
    pub(super) base: &'a report::Arm,
    pub(super) cell: &'a Cell<Shape>,
}

/// Everything that was found, in the order of the programs.
pub(super) fn all(cells: &[Cell<Shape>]) -> impl Iterator<Item = Finding<'_>> {
    let based = cells.iter().filter_map(|cell| Some((cell, cell.arm(Arm::Base.key())?)));
    based.flat_map(|(cell, base)| {
        let finding = move |quantity: Quantity| {
            Some(Finding { quantity, value: base.value(quantity.key)?, base, cell })
        };
        quantity::ALL.into_iter().filter_map(finding)
    })
}

impl Finding<'_> {
    /// The program and the quantity, for people.
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.cell.title, self.quantity.title)
    }

    fn ratio(&self, arm: &str) -> Option<Estimate> {
        self.cell.arm(arm)?.ratio(self.quantity.key)
    }

    /// Clockworker's over the base's, with its interval.
    pub(super) fn compared(&self) -> String {
        compared(self.ratio(Arm::Clockworker.key()).as_ref())
    }

    /// The base's over the base's, with its interval.
    pub(super) fn again(&self) -> String {
        compared(self.ratio(&again(Arm::Base.key())).as_ref())
    }

    /// What the ratio may be, if there is a bar for it.
    pub(super) fn limit(&self) -> Option<f64> {
        self.quantity.is_judged().then_some(self.cell.shape.limit)
    }

    /// Clockworker's over the base's, if there is a bar for it.
    pub(super) fn judged(&self) -> Option<Estimate> {
        self.ratio(Arm::Clockworker.key()).filter(|_| self.limit().is_some())
    }

    /// The ratio beside its bar, if there is one.
    pub(super) fn conclusion(&self) -> Option<Conclusion> {
        let bar = Bar::MiddleAtMost(self.limit()?);
        let named = format!("{} ÷ {}'s", self.name(), self.base.title);
        self.cell.conclude(Arm::Clockworker.key(), self.quantity.key, named, Some(bar))
    }
}
