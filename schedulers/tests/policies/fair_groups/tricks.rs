//! What tenants may try beside one that always works: it gains nothing.

use super::world::{End, World};
use super::{POLL_NS, QUANTUM_NS, TURN_NS};
use clockworker_schedulers::FairGroups;

/// What a tenant of weight 1 that always works gets beside one that plays `trick`, as a part of its half.
fn beside(mut trick: impl FnMut(&mut World<FairGroups>, Option<u64>)) -> f64 {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    let mut polled = None;
    for _ in 0..20_000 {
        polled = world.poll(|key| (POLL_NS, if key == 0 { End::Yields } else { End::Sleeps }));
        trick(&mut world, polled);
    }
    let _ = polled;
    2.0 * world.received_ns(0) as f64 / world.passed_ns as f64
}

#[test]
fn sleeping_gains_nothing() {
    // At once awake again; awake just before the pick; awake just after it; asleep for long.
    let at_once = beside(|world, polled| _ = polled == Some(1) && world.wake(1));
    let mut asleep = 0;
    let after_the_next = beside(|world, polled| {
        asleep = if polled == Some(1) { 0 } else { asleep + 1 };
        _ = asleep == 1 && world.wake(1);
    });
    let mut asleep = 0;
    let after_five = beside(|world, polled| {
        asleep = if polled == Some(1) { 0 } else { asleep + 1 };
        _ = asleep == 5 && world.wake(1);
    });
    for part in [at_once, after_the_next, after_five] {
        assert!(part > 0.999, "{at_once} {after_the_next} {after_five}");
    }
    assert!(at_once < 1.001, "{at_once}");
}

#[test]
fn coming_back_under_the_same_key_erases_nothing() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(9, 1, 1); // another index, that stays free
    world.join(1, 1, 1);
    assert_eq!(world.poll(|_| (1_000_000, End::Yields)), Some(0));
    assert_eq!(world.poll(|_| (10, End::Finishes)), Some(9));
    assert_eq!(world.poll(|_| (700_000, End::Finishes)), Some(1));
    // Its index is taken by another, so that it gets the one that owes ten.
    world.join(2, 1, 1);
    assert_eq!(world.owes_ns(2), 700_000, "the index owes what the group owed that had it");
    world.join(1, 4, 1);
    assert_eq!(world.owes_ns(1), 700_000, "and the key as well, whatever its weight is now");
    assert_eq!(world.poll(|_| (10, End::Yields)), Some(1), "at weight 4 it is 175,000 in virtual time");
}

/// A tenant that closes after each poll and comes back: beside one that always works.
#[test]
fn closing_and_opening_again_gains_nothing() {
    for fresh_keys in [false, true] {
        let mut world = World::fair();
        world.join(0, 1, 1);
        let mut key = 1;
        for _ in 0..20_000 {
            world.join(key, 1, usize::from(world.tenants.get(&key).is_none_or(|tenant| tenant.tasks == 0)));
            let polled = world.poll(|key| (POLL_NS, if key == 0 { End::Yields } else { End::Finishes }));
            key += u64::from(fresh_keys && polled == Some(key));
        }
        let part = 2.0 * world.received_ns(0) as f64 / world.passed_ns as f64;
        assert!(part > 0.999, "fresh keys {fresh_keys}: {part}");
    }
}

/// A newcomer at every point of the turns of two others, which stays for any number of polls: within a turn of its share from the
/// first to the last.
#[test]
fn joining_and_leaving_at_any_point_is_within_the_bound() {
    for joins_after in 0..40 {
        for stays in 1..40 {
            let mut world = World::fair();
            world.join(0, 3, 2);
            world.join(1, 1, 1);
            (0..joins_after).for_each(|_| _ = world.poll(|_| (POLL_NS, End::Yields)));
            let (from, passed) = (world.received_ns(0), world.passed_ns);
            world.join(2, 2, 1);
            let mut polls = 0;
            while polls < stays {
                let last = polls + 1 == stays;
                let end = |key| if key == 2 && last { End::Finishes } else { End::Yields };
                polls += usize::from(world.poll(|key| (POLL_NS, end(key))) == Some(2));
            }
            let due = (world.passed_ns - passed) as f64 * 3.0 / 6.0;
            let short = due - (world.received_ns(0) - from) as f64;
            let bound = (0.5 * 2.0 + 0.5) * TURN_NS as f64;
            assert!(short <= bound, "joins after {joins_after}, stays for {stays}: short of {short}");
        }
    }
}

#[test]
fn an_idle_queue_forgives() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    assert_eq!(world.poll(|_| (1_000_000, End::Sleeps)), Some(0));
    assert_eq!(world.owes_ns(0), 1_000_000);
    assert_eq!(world.poll(|_| (10, End::Sleeps)), Some(1));
    assert_eq!((world.owes_ns(0), world.poll(|_| (0, End::Yields))), (1_000_000, None));
    assert_eq!((world.owes_ns(0), world.owes_ns(1)), (0, 0));
    assert!(world.wake(0) && world.wake(1));
    assert_eq!(world.poll(|_| (10, End::Yields)), Some(0));
}

#[test]
fn drops_of_aborted_tasks_are_charged() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 2, 2);
    world.poll(|_| (QUANTUM_NS, End::Yields));
    world.poll(|_| (QUANTUM_NS, End::Sleeps));
    assert_eq!((world.owes_ns(0), world.owes_ns(1)), (QUANTUM_NS, QUANTUM_NS));
    world.poll(|_| (10, End::Yields));
    world.abort(1, 500_000); // one of its two tasks, which sleeps while the other is ready
    assert!(world.owes_ns(1) >= 500_000, "{}", world.owes_ns(1));
    world.run_for(240_000, |key| {
        assert_eq!(key, 0);
        POLL_NS
    });
}
