//! `WokenFirst`: woken before yielded, within two bounds.

use clockworker_schedulers::{Ready, Scheduler, TaskId, WokenFirst};
use fastrand::Rng;

use super::script::{Told, drain, spawn, task};
use super::world::pick;

/// With task 0 yielded and 1 to 99 woken: after how many pops task 0 comes, if each took so long.
fn passed_over(poll_ns: u64) -> usize {
    let mut policy = WokenFirst::new();
    policy.push(task(0), Ready::Yielded);
    (1..100).for_each(|slot| policy.push(task(slot), Ready::Woken));
    (0..)
        .take_while(|_| {
            let popped = policy.pop();
            policy.time_passed(poll_ns);
            popped != Some(task(0).id)
        })
        .count()
}

#[test]
fn woken_and_new_tasks_go_before_those_that_yielded() {
    let mut policy = WokenFirst::new();
    policy.push(task(5), Ready::Yielded);
    policy.push(task(4), Ready::Deferred);
    spawn(&mut policy, [task(3)]);
    policy.push(task(2), Ready::Woken);
    assert_eq!(drain(&mut policy), [3, 2, 5, 4]);
    assert_eq!(policy.pop(), None);
}

#[test]
fn the_first_yield_since_a_wake_counts_as_a_wake() {
    for by_push_pop in [false, true] {
        let mut policy = WokenFirst::new();
        let next = |policy: &mut WokenFirst, yielded: Option<u32>| match (yielded, by_push_pop) {
            (Some(slot), true) => policy.push_pop(task(slot)),
            (Some(slot), false) => {
                policy.push(task(slot), Ready::Yielded);
                policy.pop()
            }
            (None, _) => policy.pop(),
        };
        policy.push(task(9), Ready::Yielded);
        policy.push(task(0), Ready::Woken);
        assert_eq!(next(&mut policy, None), Some(task(0).id));
        assert_eq!(next(&mut policy, Some(0)), Some(task(0).id), "before the one that yielded");
        assert_eq!(next(&mut policy, Some(0)), Some(task(9).id), "it yields again");
        assert_eq!(next(&mut policy, Some(9)), Some(task(0).id), "and has still yielded");
        policy.push(task(1), Ready::Spawned);
        policy.push(task(0), Ready::Woken); // it has waited meanwhile
        assert_eq!(next(&mut policy, None), Some(task(1).id));
        assert_eq!(next(&mut policy, Some(1)), Some(task(0).id));
        assert_eq!(next(&mut policy, Some(0)), Some(task(1).id), "both are as if woken, in their order");
        assert_eq!(drain(&mut policy), [0, 9]);
    }
}

/// Whose yield it is, is known from the last pop: of a task that had yielded, before which a woken one was popped that did not yield.
#[test]
fn a_wake_of_another_task_does_not_count_for_one_that_yields_again() {
    let mut policy = WokenFirst::new();
    policy.push(task(0), Ready::Yielded);
    policy.push(task(1), Ready::Woken);
    assert_eq!(policy.pop(), Some(task(1).id), "which waits then");
    assert_eq!(policy.pop(), Some(task(0).id), "in its turn, as no woken one is left");
    policy.push(task(0), Ready::Yielded);
    policy.push(task(1), Ready::Woken);
    assert_eq!(drain(&mut policy), [1, 0]);

    (2..4).for_each(|slot| policy.push(task(slot), Ready::Yielded));
    policy.push(task(1), Ready::Woken);
    policy.push(task(0), Ready::Woken);
    assert_eq!(policy.pop(), Some(task(1).id), "which waits then");
    policy.time_passed(1_000_000);
    assert_eq!(policy.pop(), Some(task(2).id), "as a millisecond has passed");
    policy.time_passed(1_000_000);
    policy.push(task(2), Ready::Yielded);
    assert_eq!(drain(&mut policy), [0, 3, 2]);
}

/// As hyper's connections in a closed loop: what answered several requests in a row yields, and then waits for the next one.
#[test]
fn tasks_that_yield_once_a_wake_take_turns() {
    let mut policy = WokenFirst::new();
    spawn(&mut policy, (0..64).map(task));
    let mut polls = [0; 64];
    for poll in 0..64 * 100 {
        let slot = policy.pop().unwrap().slot();
        policy.time_passed(25_000);
        assert_eq!(slot, poll % 64);
        polls[slot] += 1;
        policy.push(task(slot as u32), if polls[slot] % 2 == 0 { Ready::Woken } else { Ready::Yielded });
    }
}

#[test]
fn after_31_pops_or_a_millisecond_a_task_that_yielded_is_next() {
    assert_eq!([0, 1_000].map(passed_over), [31; 2]);
    assert_eq!(passed_over(100_000), 10);
    assert_eq!(passed_over(900_000), 2);
    assert_eq!(passed_over(1_000_000), 1);
    assert_eq!(passed_over(u64::MAX), 1);
}

#[test]
fn the_wait_of_the_next_begins_when_one_was_popped() {
    let mut policy = WokenFirst::new();
    (0..3).for_each(|slot| policy.push(task(slot), Ready::Yielded));
    (3..300).for_each(|slot| policy.push(task(slot), Ready::Woken));
    let at: Vec<usize> =
        drain(&mut policy).iter().enumerate().filter(|(_, slot)| **slot < 3).map(|(at, _)| at).collect();
    assert_eq!(at, [31, 63, 95]);
}

/// As from a flood of woken tasks and several that tokio's budget cuts short: the time of those is not the others'.
#[test]
fn several_with_long_polls_have_three_polls_of_five() {
    let mut policy = WokenFirst::new();
    (0..3).for_each(|slot| policy.push(task(slot), Ready::Yielded));
    (3..40).for_each(|slot| policy.push(task(slot), Ready::Woken));
    let order: Vec<_> = (0..8)
        .map(|_| {
            let popped = policy.pop().unwrap().slot();
            policy.time_passed(2_000_000);
            if popped < 3 {
                policy.push(task(popped as u32), Ready::Deferred);
            }
            popped
        })
        .collect();
    assert_eq!(
        order,
        [3, 0, 4, 1, 2, 5, 6, 7],
        "and no second turn before the woken ones, as in order of becoming ready"
    );
}

/// Tasks that are woken again at once beside others that always yield: what part of all service the others have.
fn part_of_yielders(yielders: u32, yielders_ns: u64, woken: u32, woken_ns: u64) -> f64 {
    let mut policy = WokenFirst::new();
    (0..yielders).for_each(|slot| policy.push(task(slot), Ready::Deferred));
    (0..woken).for_each(|slot| policy.push(task(yielders + slot), Ready::Woken));
    let mut received_ns = [0; 2];
    for _ in 0..100_000 {
        let popped = policy.pop().unwrap().slot() as u32;
        let (class, poll_ns, why) =
            if popped < yielders { (0, yielders_ns, Ready::Deferred) } else { (1, woken_ns, Ready::Woken) };
        received_ns[class] += poll_ns;
        policy.time_passed(poll_ns);
        policy.push(task(popped), why);
    }
    received_ns[0] as f64 / (received_ns[0] + received_ns[1]) as f64
}

#[test]
fn those_that_yield_have_three_fifths_of_the_time_or_what_they_have_under_fifo() {
    for (yielders, yielders_ns) in [(1, 5_000), (100, 5_000), (3, 200_000)] {
        for woken_ns in [5_000, 20_000, 300_000] {
            let part = part_of_yielders(yielders, yielders_ns, 2, woken_ns);
            let a_round = u64::from(yielders) * yielders_ns;
            let under_fifo = a_round as f64 / (a_round + 2 * woken_ns) as f64;
            let one_in_32 = yielders_ns as f64 / (yielders_ns + 31 * woken_ns) as f64;
            let due = under_fifo.min(one_in_32.max(0.6));
            assert!((part - due).abs() < 0.01, "{yielders} × {yielders_ns}, {woken_ns}: {part}, due {due}");
        }
    }
    let short = part_of_yielders(100, 5_000, 2, 100);
    assert!((0.5..0.7).contains(&short), "a poll for each 31: {short}");
}

/// What each that yielded waits for besides those that were woken before it: so many pops, or so much service.
#[test]
fn the_wait_of_those_that_yielded_is_bounded() {
    const LONGEST_NS: u64 = 300_000;
    let mut greatest: (f64, f64) = (0.0, 0.0);
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let mut policy = WokenFirst::new();
        let lengths = [[0, 100], [10_000, 30_000], [LONGEST_NS, LONGEST_NS], [50, LONGEST_NS]];
        let (of_woken, of_yielders) = (pick(&mut random, &lengths), pick(&mut random, &lengths));
        // By slot: what it waits for, and how many of those that yielded are before it or it.
        let mut waits: Vec<Option<(u64, u64, u64)>> = Vec::new();
        let mut woken_before: Vec<Vec<usize>> = Vec::new();
        for _ in 0..600 {
            if random.u8(..8) == 0 && waits.len() < 300 {
                let slot = waits.len();
                let yielded = waits.iter().flatten().filter(|wait| wait.2 > 0).count() as u64;
                let ready = |slot: &usize| waits[*slot].is_some_and(|wait| wait.2 == 0);
                woken_before.push((0..slot).filter(ready).collect());
                waits.push(Some((0, 0, yielded + 1)));
                policy.push(task(slot as u32), Ready::Deferred);
            } else {
                woken_before.push(Vec::new());
                waits.push(Some((0, 0, 0)));
                policy.push(task(waits.len() as u32 - 1), Ready::Woken);
            }
            if random.u8(..4) == 0 {
                continue;
            }
            let popped = policy.pop().unwrap().slot();
            let (pops, service_ns, place) = waits[popped].take().unwrap();
            if place > 0 {
                greatest.0 = greatest.0.max(pops as f64 / (32 * place) as f64);
                let bound = 1_000_000 + (5 * place + 3) * LONGEST_NS / 3;
                greatest.1 = greatest.1.max(service_ns as f64 / bound as f64);
            }
            let length = pick(&mut random, if place > 0 { &of_yielders } else { &of_woken });
            policy.time_passed(length);
            for (wait, before) in waits.iter_mut().zip(&woken_before) {
                if let Some((pops, service_ns, 1..)) = wait
                    && !before.contains(&popped)
                {
                    (*pops, *service_ns) = (*pops + 1, *service_ns + length);
                }
            }
        }
    }
    assert!(greatest.0 <= 1.0 && greatest.1 <= 1.0, "{greatest:?} of the bounds");
    assert!(greatest.0 > 0.8 && greatest.1 > 0.5, "the programs come near: {greatest:?}");
}

/// Requests that take up to two fifths of the time go before those that yield, from the first to the last.
#[test]
fn woken_tasks_go_first_while_they_take_no_more_than_two_fifths_of_the_time() {
    let mut policy = WokenFirst::new();
    (0..16).for_each(|slot| policy.push(task(slot), Ready::Deferred));
    for request in 0..100_000 {
        policy.push(task(16), Ready::Woken);
        assert_eq!(policy.pop(), Some(task(16).id), "request {request}");
        policy.time_passed(20_000);
        let other = policy.pop().unwrap();
        policy.time_passed(30_000);
        policy.push(task(other.slot() as u32), Ready::Deferred);
    }
}

#[test]
fn where_nobody_waits_no_wait_goes_on() {
    let mut policy = WokenFirst::new();
    policy.push(task(1), Ready::Woken);
    assert_eq!(policy.pop(), Some(task(1).id));
    policy.time_passed(5_000_000);
    policy.push(task(2), Ready::Woken);
    policy.push(task(0), Ready::Yielded);
    assert_eq!(drain(&mut policy), [2, 0], "the five milliseconds were before it yielded");
}

/// Tasks are numbered as they become ready.
#[test]
fn a_woken_task_waits_for_none_that_became_ready_after_it() {
    for seed in 0..500 {
        let mut random = Rng::with_seed(seed);
        let mut policy = WokenFirst::new();
        let mut ready: Vec<Option<Ready>> = Vec::new();
        for _ in 0..400 {
            let next = task(ready.len() as u32);
            let mut push = |why| {
                ready.push(Some(why));
                policy.push(next, why);
                None
            };
            let popped = match random.u32(..8) {
                0 | 1 => push(Ready::Woken),
                2 => push(Ready::Deferred),
                3 | 4 => policy.pop(),
                5 => {
                    ready.push(Some(Ready::Yielded));
                    policy.push_pop(next)
                }
                _ => {
                    policy.time_passed(pick(&mut random, &[10, 200_000, 3_000_000]));
                    None
                }
            };
            let Some(popped) = popped.map(TaskId::slot) else { continue };
            ready[popped] = None;
            let is_first = !ready[..popped].contains(&Some(Ready::Woken));
            assert!(is_first, "seed {seed}: {popped} is popped before one woken earlier");
        }
    }
}
