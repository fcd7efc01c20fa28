//! A scene as an experiment: its arms, and how one sample of an arm is taken.

use std::time::Duration;

use super::Shape;
use super::arm::{Arm, FIRST};
use super::arrivals::{Arrivals, Tenancy};
use super::flood::{self, Flood};
use super::options::{Options, Scene};
use super::shares::{self, Layout, SHARES};
use super::turns::{self, History, Visitor};
use super::unlike::{self, Unlike};
use crate::harness::{Cell, Rounds, Sample, Sampling, Window, arms};
use crate::measurements::Keyed;
use crate::numbers::grouped;

/// What is measured in the same rounds.
type Part = Sampling<Shape>;

/// The parts of a scene.
pub(super) fn parts(scene: Scene, options: &Options) -> Vec<Sampling<Shape>> {
    match scene {
        Scene::Flood => vec![flooded(options)],
        Scene::Arrivals => arriving(options),
        Scene::History => vec![with_history(options)],
        Scene::Visitor => vec![visited(options)],
        Scene::Unlike => vec![unlike(options)],
        Scene::Shares => SHARES.map(|shares| sharing(shares, options)).into(),
        Scene::Cap => [true, false].map(|is_beside| capping(is_beside, options)).into(),
    }
}

/// A part of policies.
fn of_tenants(
    title: String,
    shape: Shape,
    options: &Options,
    takes: Duration,
    take: impl Fn(Arm, u64) -> Sample + 'static,
) -> Part {
    let own = options.arms(shape.scene);
    let named = arms(own.iter().map(|arm| (arm.key(), arm.title().to_owned())));
    let cell = Cell::new(title, shape, named);
    let cell = if cell.shape.scene == Scene::Flood { cell } else { cell.with_range() };
    part(cell, takes, move |window| take(own[window.arm], window.round))
}

/// A part of queues.
fn of_queues(
    title: String,
    shape: Shape,
    layouts: &'static [Layout],
    takes: Duration,
    take: impl Fn(Layout) -> Sample + 'static,
) -> Part {
    let named = arms(layouts.iter().map(|layout| (layout.key().to_owned(), layout.key().to_owned())));
    let cell = Cell::new(title, shape, named).with_range();
    part(cell, takes, move |window| take(layouts[window.arm]))
}

/// A part whose samples take so long.
fn part(cell: Cell<Shape>, takes: Duration, take: impl Fn(&Window) -> Sample + 'static) -> Part {
    let rounds = Rounds { usual: cell.shape.scene.rounds(), limit: None, warms_up: false };
    Sampling::new(vec![cell], rounds, move |window| Ok(take(window))).taking(takes)
}

fn flooded(options: &Options) -> Part {
    let (window, seed, drain) = (options.window(300), options.common.seed, options.window(500));
    let shape = Shape::new(Scene::Flood, FIRST + 1 + flood::QUIET, window);
    of_tenants("One floods".to_owned(), shape, options, window * 2, move |arm, part| {
        let run =
            |floods| arm.forewarned(FIRST + 1 + flood::QUIET, &Flood { floods, window, drain, seed, part });
        flood::sample(part, run)
    })
}

fn arriving(options: &Options) -> Vec<Part> {
    let numbers = options.tenants();
    let kinds = [Tenancy::Uniform, Tenancy::Zipf].into_iter();
    let kinds = kinds.flat_map(|tenancy| numbers.iter().map(move |&tenants| (tenancy, tenants)));
    kinds.zip(0_u64..).map(|(kind, part)| arriving_by(kind, part, options)).collect()
}

fn arriving_by((tenancy, tenants): (Tenancy, u32), part: u64, options: &Options) -> Part {
    let (window, seed, load) = (options.window(250), options.common.seed, f64::from(options.load) / 100.0);
    let kind = if tenancy == Tenancy::Zipf { "by Zipf's law" } else { "alike" };
    let title = format!("{} tenants {kind}, at {} %", grouped(tenants.into()), options.load);
    let shape = Shape::new(Scene::Arrivals, tenants as usize, window);
    of_tenants(title, shape, options, window, move |arm, round| {
        let part = part << 32 | round;
        arm.by_key(tenants as usize, &Arrivals { tenancy, tenants, load, window, seed, part })
    })
}

fn with_history(options: &Options) -> Part {
    let (alone, window) = (options.alone(), options.window(250));
    let title = format!("One was alone for {} ms", alone.as_millis());
    let shape = Shape::new(Scene::History, 2, window);
    of_tenants(title, shape, options, alone + window, move |arm, _| arm.by_key(2, &History { alone, window }))
}

fn visited(options: &Options) -> Part {
    let window = options.window(250);
    let shape = Shape::new(Scene::Visitor, 1 + turns::STAYING, window);
    of_tenants("One comes and goes".to_owned(), shape, options, window, move |arm, _| {
        arm.by_key(1 + turns::STAYING, &Visitor { window })
    })
}

fn unlike(options: &Options) -> Part {
    let (window, tenants) = (options.window(500), 1 + 2 * unlike::OF_A_KIND);
    let shape = Shape::new(Scene::Unlike, tenants, window);
    of_tenants("Short polls and long ones".to_owned(), shape, options, window, move |arm, _| {
        arm.forewarned(tenants, &Unlike { window })
    })
}

fn sharing(shares: &'static [u32], options: &Options) -> Part {
    let window = options.window(1_000);
    let named: Vec<String> = shares.iter().map(u32::to_string).collect();
    let title = format!("Shares {}", named.join(":"));
    let shape = Shape::new(Scene::Shares, shares.len(), window);
    of_queues(title, shape, &Layout::ALL, window, move |layout| shares::shared(layout, shares, window))
}

fn capping(is_beside: bool, options: &Options) -> Part {
    let window = options.window(5_000);
    let where_it_is = if is_beside { "beside another queue" } else { "alone" };
    let title = format!("A cap of {} %, {where_it_is}", shares::CAPPED_PERCENT);
    let shape = Shape::new(Scene::Cap, 1 + usize::from(is_beside), window);
    of_queues(title, shape, &[Layout::Flat], window, move |_| shares::capped(is_beside, window))
}
