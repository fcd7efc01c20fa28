//! The command `tenants`: what each of many tenants gets of a thread, under every policy and on LocalSet.
//!
//! - `flood`: ten quiet tenants, alone and beside one that has a thousand tasks.
//! - `arrivals`: jobs as they arrive, of 10 to 100,000 tenants.
//! - `history` and `visitor`: tenants that always have work, of which one was alone for long, or one comes and goes.
//! - `unlike`: tenants of short polls and of long ones.
//! - `shares` and `cap`: queues that always have work.
//!
//! In a round every arm has the same work, and the next round has other work. The scenes but `arrivals` are in real time: with
//! another program on the core they say nothing.

pub mod arm;
mod arrivals;
mod chapter;
mod flood;
pub mod options;
mod scene;
mod shares;
mod turns;
mod unlike;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report};
use crate::page::Chapter;
use crate::stats::{Bar, Conclusion};

use options::{Options, Scene};
use shares::Layout;

pub(crate) struct Tenants;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    scene: Scene,
    /// Tenants, or queues.
    tenants: u32,
    /// Seconds of a sample in which something is counted.
    window_s: f64,
}

impl Shape {
    fn new(scene: Scene, tenants: usize, window: Duration) -> Self {
        Shape { scene, tenants: tenants as u32, window_s: window.as_secs_f64() }
    }
}

impl Measurement for Tenants {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "tenants";
    const SCHEMA: &'static str = "clockworker-tenants";
    const SCHEMA_VERSION: u32 = 1;
    const QUESTION: &'static str = "What does each tenant get, whatever the others do?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, _pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let scenes = options.scenes().flat_map(|scene| scene::parts(scene, options));
        Ok(scenes.map(|part| Box::new(part) as _).collect())
    }

    fn bars(options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        let seed = options.common.seed;
        let of_cell = |cell| BARS.iter().filter_map(move |wanted| wanted.conclude(cell, seed));
        cells.iter().flat_map(of_cell).collect()
    }
}

/// What is wanted of a figure of an arm.
struct Wanted {
    scene: Scene,
    arm: &'static str,
    figure: &'static str,
    what: &'static str,
    bar: Option<Bar>,
}

impl Wanted {
    const fn new(scene: Scene, arm: &'static str, figure: &'static str, what: &'static str) -> Self {
        Wanted { scene, arm, figure, what, bar: None }
    }

    const fn be(self, bar: Bar) -> Self {
        Wanted { bar: Some(bar), ..self }
    }

    fn conclude(&self, cell: &Cell<Shape>, seed: u64) -> Option<Conclusion> {
        let arm = cell.arm(self.arm).filter(|_| cell.shape.scene == self.scene)?;
        let value = cell.estimate(arm, self.figure, seed)?;
        let named = format!("{}, {}: {}", cell.title, arm.title, self.what);
        let again = chapter::again_alone(cell, arm, seed).filter(|_| self.scene == Scene::Flood);
        Some(Conclusion::new(named, value, cell.interval, self.bar).doubted(again.as_ref()))
    }
}

/// All that is wanted here.
const BARS: &[Wanted] = &[
    Wanted::new(Scene::Flood, "fair_groups", flood::P99_BY_ALONE, "quiet tenants' p99 ÷ alone")
        .be(Bar::AtMost(1.2)),
    Wanted::new(Scene::Flood, "fair_groups", flood::WORST_BY_ALONE, "largest p99 of a quiet tenant ÷ alone")
        .be(Bar::AtMost(1.2)),
    Wanted::new(Scene::Flood, "local_set", flood::P99_BY_ALONE, "quiet tenants' p99 ÷ alone"),
    Wanted::new(Scene::Flood, "idle_queue", flood::ADDED_POLLS, "polls added to the median response")
        .be(Bar::AtMost(1.0)),
    Wanted::new(Scene::History, "fair_groups", turns::NEWCOMER, "part of who comes")
        .be(Bar::Within(0.49, 0.51)),
    Wanted::new(Scene::Unlike, "fair_groups", unlike::OF_LONG, "part of those of long polls")
        .be(Bar::Within(0.49, 0.60)),
    Wanted::new(Scene::Unlike, "fair_groups", unlike::WAIT_BY_PROMISE, "p99 of a request's wait ÷ promised")
        .be(Bar::AtMost(1.0)),
    Wanted::new(Scene::Shares, Layout::Flat.key(), shares::SHARE_ERROR, "furthest from its share")
        .be(Bar::AtMost(0.01)),
    Wanted::new(Scene::Shares, Layout::Nested.key(), shares::SHARE_ERROR, "furthest from its share")
        .be(Bar::AtMost(0.01)),
    Wanted::new(Scene::Cap, Layout::Flat.key(), shares::CAP_ERROR, "off the cap").be(Bar::AtMost(0.01)),
];
