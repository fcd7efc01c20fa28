//! The bars of `compare`, and whether they are met.

use super::background;
use super::overhead::{self, Shape};
use crate::harness::conclusion::{Bar, Conclusion, Interval};
use crate::report::{Arguments, BackgroundArm, BackgroundReport, OverheadArm, OverheadReport, OverheadShape};
use crate::stats::Estimate;

/// The bars of the overhead scenario, for WokenFirst, the default, with one queue, by place in [`overhead::SHAPES`].
const OVERHEAD_BARS: [(usize, Bar); 2] = [(2, Bar::AtMost(0.65)), (0, Bar::AtMost(0.40))];

/// The bars of the background scenario, for clockworker.
const LATENCY_BAR: Bar = Bar::AtMost(1.25);
const ITERATIONS_BAR: Bar = Bar::AtLeast(0.9);

/// Draws the conclusions. If the run was no measurement the quantities are there and the bars are not.
pub fn draw(
    arguments: &Arguments,
    overhead: Option<&OverheadReport>,
    background: Option<&BackgroundReport>,
) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    conclusions.extend(overhead.into_iter().flat_map(overhead_conclusions));
    conclusions.extend(background.into_iter().flat_map(background_conclusions));
    let judged = arguments.note().is_none();
    conclusions.iter_mut().for_each(|conclusion| conclusion.settle(judged));
    conclusions
}

fn overhead_conclusions(report: &OverheadReport) -> Vec<Conclusion> {
    let judged = OVERHEAD_BARS.into_iter().filter_map(|(place, bar)| {
        let shape = report.shapes.get(place)?;
        let arm = arm_of(shape, overhead::Arm::WokenFirstOneQueue)?;
        Some(ratio_to_local_set(shape, arm, Some(bar)))
    });
    let noise = report.shapes.get(OVERHEAD_BARS[0].0).and_then(|shape| {
        let again = arm_of(shape, overhead::Arm::LocalSetAgain)?;
        Some(ratio_to_local_set(shape, again, None))
    });
    judged.chain(noise).collect()
}

fn arm_of(shape: &OverheadShape, arm: overhead::Arm) -> Option<&OverheadArm> {
    shape.arms.iter().find(|found| found.arm == arm.key())
}

fn ratio_to_local_set(shape: &OverheadShape, arm: &OverheadArm, bar: Option<Bar>) -> Conclusion {
    let OverheadShape { tasks, yields, .. } = *shape;
    let shape = Shape { tasks, yields };
    Conclusion {
        quantity: format!("Time per poll at {shape}, {} ÷ LocalSet", arm.title),
        value: arm.ratio.expect("every arm but the baseline has a ratio"),
        interval: Interval::Confidence95,
        bar,
        verdict: None,
    }
}

fn background_conclusions(report: &BackgroundReport) -> Vec<Conclusion> {
    let arm = |arm: background::Arm| report.arms.iter().find(|found| found.arm == arm.key());
    let latency = |arm: &BackgroundArm, bar| {
        let quantity = format!("Foreground p99 total latency, {} ÷ foreground only", arm.title);
        Some(over_repetitions(quantity, arm.total_p99_ratio?, bar))
    };
    let iterations = |arm: &BackgroundArm, bar| {
        let quantity = format!("Background iterations, {} ÷ LocalSet with background", arm.title);
        Some(over_repetitions(quantity, arm.background_ratio?, bar))
    };
    let clockworker = arm(background::Arm::Clockworker);
    let local_set = arm(background::Arm::LocalSet);
    [
        clockworker.and_then(|arm| latency(arm, Some(LATENCY_BAR))),
        clockworker.and_then(|arm| iterations(arm, Some(ITERATIONS_BAR))),
        local_set.and_then(|arm| latency(arm, None)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn over_repetitions(quantity: String, value: Estimate, bar: Option<Bar>) -> Conclusion {
    Conclusion { quantity, value, interval: Interval::RangeOfRepetitions, bar, verdict: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_at_the_shapes_they_were_set_for() {
        let shapes = OVERHEAD_BARS.map(|(place, _)| overhead::SHAPES[place]);
        assert_eq!(shapes, [Shape { tasks: 1_000, yields: 1_000 }, Shape { tasks: 50_000, yields: 5 }]);
    }
}
