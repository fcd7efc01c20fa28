//! The bars that the project has set itself, and whether they are met.

use super::arm::Arm;
use super::report::{ArmReport, CellReport};
use super::service::Service;
use crate::harness::conclusion::{Bar, Conclusion, Interval};
use crate::stats::Estimate;

/// The cell that the bars are for.
const BARRED: (Service, u32) = (Service::Pareto, 90);

/// The arms that they are for.
const BARRED_ARMS: [Arm; 2] = [Arm::Las, Arm::Qlas];

const SLOWDOWN_BAR: Bar = Bar::AtMost(0.3);
const SIMULATED_BAR: Bar = Bar::Within(0.9, 1.1);

/// Draws the conclusions of the cells there are; `judged` is whether the run was a measurement.
pub fn draw(cells: &[CellReport], judged: bool) -> Vec<Conclusion> {
    let mut conclusions: Vec<Conclusion> = cells.iter().flat_map(of_cell).collect();
    conclusions.iter_mut().for_each(|conclusion| conclusion.settle(judged));
    conclusions
}

fn of_cell(cell: &CellReport) -> impl Iterator<Item = Conclusion> + '_ {
    let barred = (cell.service, cell.load_percent) == BARRED;
    let arms = cell.arms.iter().filter(|arm| BARRED_ARMS.contains(&arm.arm));
    arms.flat_map(move |arm| of_arm(cell, arm, barred))
}

fn of_arm(cell: &CellReport, arm: &ArmReport, barred: bool) -> impl Iterator<Item = Conclusion> + use<> {
    let (at, title) = (format!("{:?} at {} %", cell.service, cell.load_percent), arm.title);
    let conclusion = |quantity, value: Estimate, bar: Bar| Conclusion {
        quantity,
        value,
        interval: Interval::Confidence95,
        bar: barred.then_some(bar),
        verdict: None,
    };
    let slowdown = arm
        .slowdown_p99_ratio
        .map(|value| conclusion(format!("{at}: p99 slowdown, {title} ÷ LocalSet"), value, SLOWDOWN_BAR));
    let simulated =
        conclusion(format!("{at}: mean response, {title} ÷ simulator"), arm.simulated_ratio, SIMULATED_BAR);
    slowdown.into_iter().chain([simulated])
}
