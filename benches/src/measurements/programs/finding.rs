//! One quantity of a program, as it was found.

use super::arm::Arm;
use super::quantity::Quantity;
use super::sampled::Shape;
use crate::harness::report::{Cell, again};
use crate::numbers::compared;
use crate::stats::Estimate;
use crate::stats::conclusion::{Bar, Conclusion};

/// One quantity of a program, as it was found.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// What was measured.
    pub quantity: Quantity,
    /// The median of the base's samples.
    value: f64,
    cell: &'a Cell<Shape>,
}

/// Everything that was found, in the order of the programs.
pub fn all(cells: &[Cell<Shape>]) -> impl Iterator<Item = Finding<'_>> {
    cells.iter().flat_map(|cell| {
        let value = |quantity: Quantity| cell.arm(Arm::Base.key())?.value(quantity.key());
        let finding = move |quantity| Some(Finding { quantity, value: value(quantity)?, cell });
        Quantity::ALL.into_iter().filter_map(finding)
    })
}

impl Finding<'_> {
    /// The program's key.
    pub fn program(&self) -> &str {
        &self.cell.shape.program
    }

    /// What the program does.
    pub fn title(&self) -> &str {
        &self.cell.title
    }

    /// What the ratios are to.
    pub fn base(&self) -> &str {
        self.cell.arm(Arm::Base.key()).map_or("", |arm| &arm.title)
    }

    /// The program and the quantity, for people.
    pub fn name(&self) -> String {
        format!("{}, {}", self.title(), self.quantity.title())
    }

    /// The median of the base's samples, with its unit.
    pub fn shown(&self) -> String {
        self.quantity.show(self.value)
    }

    fn ratio(&self, arm: &str) -> Option<Estimate> {
        self.cell.arm(arm)?.ratio(self.quantity.key())
    }

    /// Clockworker's over the base's, with its interval.
    pub fn compared(&self) -> String {
        compared(self.ratio(Arm::Clockworker.key()).as_ref())
    }

    /// The base's over the base's, with its interval.
    pub fn again(&self) -> String {
        compared(self.ratio(&again(Arm::Base.key())).as_ref())
    }

    /// What the ratio may be, if there is a bar for it.
    pub fn limit(&self) -> Option<f64> {
        self.quantity.is_judged().then_some(self.cell.shape.limit)
    }

    /// Clockworker's over the base's, if there is a bar for it.
    pub fn judged(&self) -> Option<Estimate> {
        self.ratio(Arm::Clockworker.key()).filter(|_| self.limit().is_some())
    }

    /// The ratio beside its bar, if there is one.
    pub fn conclusion(&self) -> Option<Conclusion> {
        let bar = Bar::MiddleAtMost(self.limit()?);
        let named = format!("{} ÷ {}'s", self.name(), self.base());
        self.cell.conclude(Arm::Clockworker.key(), self.quantity.key(), named, Some(bar))
    }
}
