//! The bars that the project has set itself, and whether they are met.

use super::arm::Arm;
use super::report::{ArmReport, SceneReport};
use super::scene::Section;
use crate::conclusions::{Bar, Conclusion, Interval};
use crate::stats::Estimate;

/// The polls of the background that the bars are for.
const BARRED_POLL_US: u64 = 100;

const LATENCY_BAR: Bar = Bar::AtMost(1.1);
const BACKGROUND_BAR: Bar = Bar::AtLeast(0.95);

/// Draws the conclusions of the scenes there are; `judged` is whether the run was a measurement.
pub fn draw(scenes: &[SceneReport], judged: bool) -> Vec<Conclusion> {
    let barred = Arm::Shares { foreground: 99, background: 1 }.title();
    let mut conclusions = Vec::new();
    let with_bars = |scene: &&SceneReport| {
        scene.background_poll_us == BARRED_POLL_US && scene.section != Section::Request
    };
    for scene in scenes.iter().filter(with_bars) {
        let arm = scene.arms.iter().find(|arm| arm.title == barred);
        conclusions.extend(arm.into_iter().flat_map(|arm| of_arm(scene, arm)));
    }
    conclusions.iter_mut().for_each(|conclusion| conclusion.settle(judged));
    conclusions
}

/// Only the section `shares` has bars: `sleeping` is there to be compared with it.
fn of_arm(scene: &SceneReport, arm: &ArmReport) -> impl Iterator<Item = Conclusion> + use<> {
    let judged = scene.section == Section::Shares;
    let name = format!("{}, {}", scene.title, arm.title);
    let conclusion = move |what: &str, value: Option<Estimate>, bar: Bar| {
        Some(Conclusion {
            quantity: format!("{name}: {what}"),
            value: value?,
            interval: Interval::Confidence95,
            bar: judged.then_some(bar),
            verdict: None,
        })
    };
    [
        conclusion("foreground p50 ÷ foreground only", arm.p50_ratio, LATENCY_BAR),
        conclusion("foreground p99 ÷ foreground only", arm.p99_ratio, LATENCY_BAR),
        conclusion("background ÷ LocalSet's", arm.background_ratio, BACKGROUND_BAR),
    ]
    .into_iter()
    .flatten()
}
