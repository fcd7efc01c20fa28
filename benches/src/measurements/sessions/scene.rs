//! A scenario as an experiment: its arms, and how one sample of an arm is taken.

use std::time::Duration;

use super::Shape;
use super::options::{Options, Own, Scenario};
use super::queues::{Setup, TITLES};
use super::world::{Found, World};
use crate::harness::{Cell, Rounds, Sample, Sampling, arms, in_turns};
use crate::measurements::Keyed;
use crate::numbers::grouped;

/// When checkpoints had run, less when they were due.
pub(super) const LATE: &str = "checkpoint_late_ns";
pub(super) const ELAPSED: &str = "elapsed_ms";
pub(super) const DISPATCH: &str = "dispatch_ns_per_event";
/// Bytes that clients which listened to the end got: the same for all arms, unless receivers lagged.
pub(super) const DELIVERED: &str = "delivered_bytes";
/// What dispatch takes where unheard events are skipped, over what it takes where they are not.
pub(super) const SKIPPED_BY_SENT: &str = "dispatch_skipped_by_sent";

/// From so many sessions on, a round takes seconds.
const MANY: u32 = 1_000;

/// Clients that come and go in `subscription_lifecycle_churn`, of each session and of all.
const VISITS: u32 = 50;

/// `burst` has as many bursts as such events make, but one at the least.
const EVENTS_OF_BURSTS: u32 = 12_000;
const MOST_BURSTS: u32 = 8;

/// The part that is `scenario` with so many sessions.
pub(super) fn part(scenario: Scenario, sessions: u32, options: &Options) -> Sampling<Shape> {
    let ((world, setup), own) = (set_up(scenario, sessions, options), options.arms());
    let title = format!("{}, {} sessions", scenario.key(), grouped(sessions.into()));
    let named = arms(own.iter().map(|arm| (arm.key(), arm.title(TITLES).to_owned())));
    let cell = Cell::new(title, Shape { scenario, sessions }, named);
    let (cell, usual) = if sessions < MANY { (cell, 8) } else { (cell.with_range(), 3) };
    Sampling::new(vec![cell], Rounds { usual, limit: None, warms_up: false }, move |window| {
        let (arm, world) = (own[window.arm], World { part: window.round, ..world.clone() });
        let run = |world: &World| arm.run(|| setup.queues(), world);
        Ok(match scenario {
            Scenario::FanoutOverhead => both(&world, run),
            _ => sample_of(&run(&world)),
        })
    })
}

pub(super) fn set_up(scenario: Scenario, sessions: u32, options: &Options) -> (World, Setup) {
    let Own { events, checkpoints, payload, skip_unheard, shares, .. } = **options;
    let quick = options.common.quick;
    let all_events = u64::from(events) * u64::from(sessions);
    let usual =
        (u64::from(EVENTS_OF_BURSTS) / all_events).clamp(1, if quick { 2 } else { MOST_BURSTS.into() });
    let bursts = options.bursts.unwrap_or(usual as u32);
    let ticks = if scenario == Scenario::Burst { options.ticks.max(2 * bursts) } else { options.ticks };
    let world = World {
        scenario,
        sessions,
        events,
        ticks,
        period: options.period(sessions),
        bursts,
        capacity: options.capacity.map_or((all_events * u64::from(bursts)).min(MOST_CAPACITY), u64::from)
            as usize,
        checkpoints,
        payload,
        skip_unheard,
        visits: if quick { 5 } else { VISITS },
        seed: options.common.seed,
        part: 0,
    };
    let setup = Setup { shares, request: Duration::from_micros(options.request.into()) };
    (world, setup)
}

/// The most that the channel of all sessions holds unless `--capacity` says otherwise.
const MOST_CAPACITY: u64 = 1 << 24;

/// A run where unheard events are sent and one where they are skipped, in turns the first. What the sample counts is of the one
/// that was asked for.
fn both(world: &World, run: impl Fn(&World) -> Found) -> Sample {
    let with = |skip_unheard| run(&World { skip_unheard, ..world.clone() });
    let [sent, skipped] = in_turns(world.part, with);
    let nanos = |found: &Found| found.counters.event_dispatch_nanos_total as f64;
    let ratio = nanos(&skipped) / nanos(&sent);
    sample_of(if world.skip_unheard { &skipped } else { &sent }).with_number(SKIPPED_BY_SENT, ratio)
}

fn sample_of(found: &Found) -> Sample {
    let Found { counters, late, elapsed, written } = found;
    let counted = counters.all().into_iter();
    let sample =
        counted.fold(Sample::default(), |sample, (name, count)| sample.with_number(name, count as f64));
    let per_event = counters.event_dispatch_nanos_total as f64 / counters.events_received_total as f64;
    let sample = sample.with_number(ELAPSED, elapsed.as_secs_f64() * 1e3).with_number(DISPATCH, per_event);
    let sample = sample.with_number(DELIVERED, *written as f64);
    if late.count() > 0 { sample.with_values(LATE, late.clone()) } else { sample }
}
