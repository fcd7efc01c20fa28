//! Whoever runs the tasks: a seed gives the same counts and the same bytes.

use clap::ValueEnum;

use super::counters::Counters;
use super::options::{Options, Scenario};
use super::queues::Setup;
use super::scene;
use super::world::{Found, World};
use crate::harness::options_of;
use crate::measurements::arm::Arm;

fn world(scenario: Scenario, line: &str) -> (World, Setup) {
    let options = options_of::<Options>(&format!("--quick --period 5 {line}")).unwrap();
    scene::set_up(scenario, 7, &options)
}

fn run(arm: Arm, scenario: Scenario, line: &str) -> Found {
    let (world, setup) = world(scenario, line);
    arm.run(|| setup.queues(), &world)
}

fn count(counters: &Counters, name: &str) -> u64 {
    counters.all().into_iter().find(|(other, _)| other == name).expect("there is such a counter").1
}

#[test]
fn a_seed_gives_the_same_counts_and_bytes_on_every_executor() {
    for &scenario in Scenario::value_variants() {
        for line in ["", "--seed 3 --checkpoints shared --payload shared --skip-unheard"] {
            let wanted = run(Arm::LocalSet, scenario, line);
            for &arm in Arm::value_variants() {
                let found = run(arm, scenario, line);
                let (ours, theirs) = (found.counters.decided(), wanted.counters.decided());
                assert_eq!((ours, found.written), (theirs, wanted.written), "{scenario:?}, {arm:?}, {line}");
            }
        }
    }
}

#[test]
fn counts_are_those_of_the_world() {
    let found = run(Arm::Queues, Scenario::Burst, "--events 9 --ticks 4 --bursts 2");
    let wanted = [
        ("checkpoint_ticks_total", 28),
        // The user looks at the first session.
        ("checkpoint_skips_focused_total", 4),
        ("checkpoint_send_attempts_total", 24),
        ("checkpoint_send_failures_total", 0),
        ("events_received_total", 126),
        ("events_forwarded_session_total", 126),
        ("events_forwarded_global_total", 126),
        ("event_clone_ops_total", 126),
        // A client of each, and visitors once in a millisecond, in four periods of five.
        ("subscribe_session_calls_total", 7 + 20),
        ("subscribe_global_calls_total", 2),
        ("subscriber_closed_session_total", 7),
        ("subscriber_closed_global_total", 2),
        ("global_receiver_count_last", 2),
    ];
    for (name, wanted) in wanted {
        assert_eq!(count(&found.counters, name), wanted, "{name}");
    }
    assert_eq!(found.late.count(), 28);
}

#[test]
fn what_nobody_hears_is_not_copied_where_it_is_skipped() {
    for (line, clones) in [("", 280), ("--skip-unheard", 0), ("--payload shared", 0)] {
        let Found { counters, .. } = run(Arm::LocalSet, Scenario::FanoutOverhead, line);
        assert_eq!(count(&counters, "event_clone_ops_total"), clones, "{line}");
        assert_eq!(count(&counters, "events_forwarded_global_total"), 280);
        assert_eq!(count(&counters, "events_forwarded_session_total"), 0);
    }
}

#[test]
fn every_visit_is_a_subscription() {
    let Found { counters, .. } = run(Arm::Queues, Scenario::SubscriptionLifecycleChurn, "");
    let calls = ["subscribe_session_calls_total", "subscribe_global_calls_total"];
    assert_eq!(calls.map(|name| count(&counters, name)), [35, 5]);
}

#[test]
fn a_channel_that_is_too_small_loses_events_and_says_so() {
    let Found { counters, .. } = run(Arm::LocalSet, Scenario::Burst, "--capacity 1 --bursts 1");
    assert!(count(&counters, "subscriber_lagged_errors_global_total") > 0);
}
