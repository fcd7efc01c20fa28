//! What groups have attained is halved with each half-life, and comes back with a group's key.

use clockworker_schedulers::{FairTurns, GroupId, Las, Qlas, Scheduler, Serpt};
use fastrand::Rng;

use super::script::{Told, drain, poll_of, spawn, task};
use super::world::{End, World};

const SECOND: u64 = 1_000_000_000;

/// What some tenants get while all their tasks yield, in thousandths of what goes to all, until so much has passed.
fn parts<const N: usize>(
    world: &mut World<impl Scheduler>,
    tenants: [u64; N],
    ns: u64,
    poll_ns: impl Fn(u64) -> u64,
) -> [u64; N] {
    let (passed_ns, before) = (world.passed_ns, tenants.map(|key| world.received_ns(key)));
    world.run_for(ns, poll_ns);
    let passed_ns = world.passed_ns - passed_ns;
    let received = tenants.map(|key| world.received_ns(key));
    core::array::from_fn(|n| (received[n] - before[n]) * 1_000 / passed_ns)
}

/// The part of the second of two tenants in each of eight half-lives since it came, after the first had been alone for a minute.
fn parts_after_a_minute(policy: impl Scheduler, poll_ns: [u64; 2]) -> Vec<u64> {
    let poll_ns = |key: u64| poll_ns[key as usize];
    let mut world = World::new(policy);
    world.join(0, 1, 1);
    world.run_for(60 * SECOND, poll_ns);
    world.join(1, 1, 1);
    (0..8).map(|_| parts(&mut world, [1], SECOND, poll_ns)[0]).collect()
}

/// The newcomer catches up in one half-life. In the second it has half to within 2 %, in each one after that to within 1 %.
#[test]
fn after_a_minute_alone_two_half_lives_make_good() {
    for poll_ns in [[1_000_000, 1_000_000], [1_000_000, 50_000], [50_000, 1_000_000], [300_000, 170_000]] {
        let never = || FairTurns::NEVER;
        for parts in [
            parts_after_a_minute(Las::new(), poll_ns),
            parts_after_a_minute(Qlas::new(), poll_ns),
            parts_after_a_minute(Serpt::new(), poll_ns),
            parts_after_a_minute(Las::new().with_fair_turns(never()), poll_ns),
            parts_after_a_minute(Qlas::new().with_fair_turns(never()), poll_ns),
            parts_after_a_minute(Serpt::new().with_fair_turns(never()), poll_ns),
        ] {
            assert!(parts[0] > 900, "{poll_ns:?}: {parts:?}");
            assert!((480..=520).contains(&parts[1]), "{poll_ns:?}: {parts:?}");
            assert!(parts[2..].iter().all(|part| (490..=510).contains(part)), "{poll_ns:?}: {parts:?}");
        }
    }
}

#[test]
fn without_a_half_life_a_minute_alone_is_not_forgotten() {
    for parts in [
        parts_after_a_minute(Las::new().without_half_life(), [1_000_000; 2]),
        parts_after_a_minute(Qlas::new().without_half_life(), [1_000_000; 2]),
        parts_after_a_minute(Serpt::new().without_half_life(), [1_000_000; 2]),
    ] {
        assert!(parts.iter().all(|&part| part > 980), "{parts:?}");
    }
}

/// The greatest difference of the service of two groups that always have work, over all stretches from two half-lives on, as a part
/// of what is stated.
fn difference_by_bound(policy: impl Scheduler, lengths_ns: [[u64; 2]; 2]) -> f64 {
    let longest_ns = lengths_ns.into_iter().flatten().max().unwrap();
    let unit = (SECOND / 64 + longest_ns) as f64;
    let (mut world, mut random) = (World::new(policy), Rng::with_seed(7));
    world.join(0, 1, 1);
    world.run_for(3 * SECOND, |_| longest_ns);
    world.join(1, 1, 1);
    let from = world.passed_ns + 2 * SECOND;
    // Of stretches that begin by now: the difference less half of the time since, each way, where that is least.
    let (mut least, mut worst) = ([f64::MAX; 2], 0.0_f64);
    while world.passed_ns < from + 6 * SECOND {
        let lengths = lengths_ns.map(|[least, most]| random.u64(least..=most));
        world.poll(|key| (lengths[key as usize], End::Yields));
        if world.passed_ns < from {
            continue;
        }
        let half_lives = (world.passed_ns - from) as f64 / SECOND as f64;
        let difference = (world.received_ns(0) as f64 - world.received_ns(1) as f64) / unit;
        for (least, signed) in least.iter_mut().zip([difference, -difference]) {
            let now = signed - half_lives / 2.0;
            *least = least.min(now);
            worst = worst.max((now - *least) / 2.5);
        }
    }
    worst
}

#[test]
fn two_groups_get_equal_service_in_stretches_of_any_length() {
    const MS: u64 = 1_000_000;
    let mut worst = 0.0_f64;
    for lengths in [
        [[50 * MS; 2]; 2],
        [[MS / 10, 50 * MS]; 2],
        [[50 * MS; 2], [MS / 10; 2]],
        [[5 * MS, 6 * MS], [50 * MS; 2]],
        [[MS, 2 * MS]; 2],
    ] {
        for (name, found) in [
            ("Las", difference_by_bound(Las::new(), lengths)),
            ("Qlas", difference_by_bound(Qlas::new(), lengths)),
            ("Serpt", difference_by_bound(Serpt::new(), lengths)),
            ("Las, in order", difference_by_bound(Las::new().with_fair_turns(FairTurns::NEVER), lengths)),
        ] {
            assert!(found <= 1.0, "{name}, {lengths:?}: {found} of the bound");
            worst = worst.max(found);
        }
    }
    assert!(worst > 0.5, "{worst}");
}

/// The least and the most that a tenant gets of its equal part, in thousandths, where so many always have work for 10 s.
fn spread(policy: impl Scheduler, tenants: u64) -> [u64; 2] {
    let poll_ns = |key: u64| 20_000 + 1_000 * (key % 50);
    let mut world = World::new(policy);
    (0..tenants).for_each(|key| world.join(key, 1, 1));
    world.run_for(2 * SECOND, poll_ns);
    let before: Vec<u64> = (0..tenants).map(|key| world.received_ns(key)).collect();
    world.run_for(10 * SECOND, poll_ns);
    let received = (0..tenants).map(|key| world.received_ns(key) - before[key as usize]);
    let range = [received.clone().min(), received.max()];
    range.map(|ns| ns.unwrap() * 1_000 * tenants / (10 * SECOND))
}

/// Up to sixteen groups share alike under each, any number under `Las`.
#[test]
fn many_that_always_have_work_share_alike() {
    for (groups, within) in [(3, 10), (7, 20), (15, 60)] {
        for [least, most] in [
            spread(Las::new(), groups),
            spread(Qlas::new(), groups),
            spread(Serpt::new(), groups),
            spread(Qlas::new().with_fair_turns(FairTurns::NEVER), groups),
        ] {
            assert!(least >= 1_000 - within && most <= 1_000 + within, "{groups}: {least} to {most}");
        }
    }
    let [least, most] = spread(Las::new(), 300);
    assert!(least >= 985 && most <= 1_015, "{least} to {most}");
}

/// What the second of two tenants gets of a half-life. The first was alone for ten, closed, was absent for so many while the second
/// worked, and is back under `key`.
fn part_beside_one_that_is_back(policy: impl Scheduler, absent: u64, key: u64) -> u64 {
    let poll_ns = |_| 100_000;
    let mut world = World::new(policy);
    world.join(7, 1, 1);
    world.run_for(10 * SECOND, poll_ns);
    world.poll(|_| (0, End::Finishes));
    world.join(8, 1, 1);
    world.run_for(absent * SECOND, poll_ns);
    world.join(key, 1, 1);
    parts(&mut world, [8], SECOND, poll_ns)[0]
}

#[test]
fn absence_is_no_way_to_be_new_again() {
    fn check<S: Scheduler>(make: fn() -> S) {
        let part = |absent, key| part_beside_one_that_is_back(make(), absent, key);
        assert!(part(0, 7) > 900, "{}: it is who it was", part(0, 7));
        assert!((400..=600).contains(&part(0, 9)), "{}: another key is another group", part(0, 9));
        assert!(part(10, 7) < 100, "{}: what it had is forgotten", part(10, 7));
    }
    check(Las::new);
    check(Qlas::new);
    check(Serpt::new);
}

/// What a tenant gets, in thousandths, that closes after every poll and comes back, beside one that always has work.
fn part_of_one_that_comes_and_goes(policy: impl Scheduler) -> u64 {
    let [stays, goes] = [1, 0];
    let mut world = World::new(policy);
    world.join(stays, 1, 1);
    world.join(goes, 1, 1);
    while world.passed_ns < 10 * SECOND {
        let polled = world.poll(|key| (100_000, if key == stays { End::Yields } else { End::Finishes }));
        if polled == Some(goes) {
            world.join(goes, 1, 1);
        }
    }
    world.received_ns(goes) * 1_000 / world.passed_ns
}

#[test]
fn coming_and_going_gains_nothing() {
    for part in [
        part_of_one_that_comes_and_goes(Las::new()),
        part_of_one_that_comes_and_goes(Qlas::new()),
        part_of_one_that_comes_and_goes(Serpt::new()),
    ] {
        assert!((490..=510).contains(&part), "{part}");
    }
    // Where nothing is forgotten nothing is remembered.
    assert!(part_of_one_that_comes_and_goes(Las::new().without_half_life()) > 900);
}

/// A half-life of 2²⁰ ns, in polls of a quarter.
#[test]
fn attained_service_is_halved_at_the_pop_after_each_half_life() {
    fn check<S: Scheduler>(mut policy: S, attained_ns: fn(&S, GroupId) -> u64) {
        policy.timed(task(9), 1_000);
        spawn(&mut policy, [task(0)]);
        let mut course = Vec::new();
        for _ in 0..9 {
            assert_eq!(policy.pop(), Some(task(0).id));
            course.push([0, 9].map(|slot| attained_ns(&policy, GroupId::new(slot))));
            poll_of(&mut policy, task(0), 1 << 18);
        }
        // In quarters: 0 1 2 3 4/2 3 4 5 6/2.
        let quarters: Vec<u64> = course.iter().map(|[ns, _]| ns >> 18).collect();
        assert_eq!(quarters, [0, 1, 2, 3, 2, 3, 4, 5, 3]);
        assert_eq!(course[8][1], 250, "another, that was not served since");
    }
    check(Las::new().with_half_life_ns(1 << 20), Las::attained_ns);
    check(Qlas::new().with_half_life_ns(1 << 20), Qlas::attained_ns);
    check(Serpt::new().with_half_life_ns(1 << 20), Serpt::attained_ns);
}

/// Tasks that wait in levels 1 and 2 wait in levels 0 and 1 after a half-life, before those that come later.
#[test]
fn those_that_wait_come_down_with_their_levels() {
    fn order(mut policy: impl Scheduler) -> Vec<usize> {
        policy.timed(task(1), 16);
        policy.timed(task(2), 32);
        spawn(&mut policy, [task(0), task(2), task(1)]);
        assert_eq!(policy.pop(), Some(task(0).id));
        poll_of(&mut policy, task(0), 1 << 20);
        let first = policy.pop().unwrap().slot();
        policy.timed(task(3), 16); // to level 1, behind task 2 if that came down
        spawn(&mut policy, [task(3)]);
        let mut order = vec![first];
        order.extend(drain(&mut policy));
        order
    }
    let never = || FairTurns::NEVER;
    let qlas = || Qlas::new().with_base_ns(16).with_fair_turns(never());
    let serpt = || Serpt::new().with_base_ns(16).with_fair_turns(never());
    assert_eq!(order(qlas().with_half_life_ns(1 << 20)), [1, 2, 3, 0]);
    assert_eq!(order(serpt().with_half_life_ns(1 << 20)), [1, 2, 3, 0]);
    assert_eq!(order(qlas().without_half_life()), [1, 3, 2, 0]);
    assert_eq!(order(serpt().without_half_life()), [1, 3, 2, 0]);
}

#[test]
fn half_lives_are_kept_within_limits() {
    assert_eq!(Las::new().half_life_ns(), Some(SECOND));
    assert_eq!(Qlas::new().half_life_ns(), Some(SECOND));
    assert_eq!(Serpt::new().half_life_ns(), Some(SECOND));
    let lengths = [0, 1 << 40, u64::MAX].map(|ns| Qlas::new().with_half_life_ns(ns).half_life_ns());
    assert_eq!(lengths, [1 << 20, 1 << 40, 1 << 60].map(Some));
    assert_eq!(Serpt::new().without_half_life().half_life_ns(), None);
}

/// Service without sense: more than a half-life in one poll, over and over, of groups that are saturated.
#[test]
fn the_longest_polls_do_no_harm() {
    fn check(mut policy: impl Scheduler) {
        spawn(&mut policy, (0..3).map(task));
        let popped = |_| {
            let slot = policy.pop().unwrap().slot() as u32;
            poll_of(&mut policy, task(slot), u64::MAX);
            slot
        };
        let mut popped: Vec<u32> = (0..1_000).map(popped).collect();
        popped.sort_unstable();
        popped.dedup();
        assert_eq!(popped, [0, 1, 2]);
    }
    check(Las::new().with_half_life_ns(0));
    check(Qlas::new().with_half_life_ns(0));
    check(Serpt::new().with_half_life_ns(0));
    check(Qlas::new().with_base_ns(2).with_half_life_ns(u64::MAX));
    check(Serpt::new().with_base_ns(u64::MAX));
}
