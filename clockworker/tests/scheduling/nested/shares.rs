//! What each queue of a tree gets where all have work: the product of its shares.

use std::time::Duration;

use clockworker::{Executor, Queue};

use super::super::shares::SECOND;
use super::{below, top};
use crate::support::{VirtualTime, compute, us};

fn busy(queue: &Queue) -> u128 {
    queue.stats().busy.as_nanos()
}

/// Each of the queues is within a thousandth of its part of what all of them got.
#[track_caller]
fn assert_parts(queues: &[(&Queue, u128)]) {
    let all: u128 = queues.iter().map(|(queue, _)| busy(queue)).sum();
    let parts: u128 = queues.iter().map(|(_, part)| part).sum();
    for (queue, part) in queues {
        let (got, due) = (busy(queue), all * part / parts);
        assert!(got.abs_diff(due) <= due / 1_000, "{queue:?}: {got} of {due} ns");
    }
}

fn saturate(sim: &VirtualTime, ex: &Executor, queues: &[&Queue], time: Duration) {
    for queue in queues {
        // What is off is a request and a poll at most.
        let way = std::iter::successors(Some(Queue::clone(queue)), Queue::parent);
        way.for_each(|queue| queue.set_request(us(5)).unwrap());
        queue.spawn(compute(sim, us(5)));
        queue.spawn(compute(sim, us(10)));
    }
    sim.run(ex, sim.sleep_until(time));
    assert_eq!(ex.stats().busy, sim.now(), "every nanosecond is billed once");
}

/// Two deep: the shares below a queue, beside one that is as large and has no children.
fn two_deep(shares: &[u32]) {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (tenants, beside) = (top(&ex, "tenants", 3), top(&ex, "beside", 3));
    let middle = below(&tenants, "middle", 7);
    let queues: Vec<_> = shares
        .iter()
        .enumerate()
        .map(|(number, &share)| below(&middle, &format!("queue {number}"), share))
        .collect();
    let all: Vec<_> = queues.iter().chain([&beside]).collect();
    saturate(&sim, &ex, &all, 4 * SECOND);
    let sum: u32 = shares.iter().sum();
    let parts = queues.iter().zip(shares).map(|(queue, &share)| (queue, u128::from(share)));
    assert_parts(&parts.chain([(&beside, u128::from(sum))]).collect::<Vec<_>>());
    assert_eq!(tenants.stats().branch_busy + beside.stats().busy, sim.now());
    assert_eq!(middle.stats().branch_busy, tenants.stats().branch_busy);
}

#[test]
fn shares_9_to_1() {
    two_deep(&[9, 1]);
}

#[test]
fn shares_99_to_1() {
    two_deep(&[99, 1]);
}

#[test]
fn even_shares() {
    two_deep(&[1, 1, 1, 1]);
}

/// A parent's own tasks are one child more, of share 1, whatever the parent's share.
#[test]
fn own_tasks_compete_with_children() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (parent, beside) = (top(&ex, "parent", 4), top(&ex, "beside", 1));
    let (a, b) = (below(&parent, "a", 1), below(&parent, "b", 2));
    saturate(&sim, &ex, &[&parent, &a, &b, &beside], 4 * SECOND);
    assert_parts(&[(&parent, 4), (&a, 4), (&b, 8), (&beside, 4)]);
}

#[test]
fn adding_and_closing_a_tenant_changes_no_other_branch() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (tenants, other) = (top(&ex, "tenants", 1), top(&ex, "other", 1));
    let stays = below(&tenants, "stays", 1);
    let in_other = [below(&other, "x", 1), below(&other, "y", 3)];
    for queue in [&stays, &in_other[0], &in_other[1]] {
        queue.spawn(compute(&sim, us(10)));
    }
    for number in 0..200 {
        let guest = below(&tenants, &format!("guest {number}"), 1 + number % 50);
        let task = guest.spawn(compute(&sim, us(10)));
        sim.run(&ex, sim.sleep(us(10_000)));
        task.abort();
        assert!(sim.run(&ex, task).unwrap_err().is_cancelled());
        guest.close();
    }
    // 2 s: half each, whoever came and went; a request and a poll at either end.
    let half = sim.now() / 2;
    let other_got = other.stats().branch_busy;
    assert!(other_got.abs_diff(half) <= us(1_020), "{other_got:?} of {half:?}");
    assert!(in_other[1].stats().busy.abs_diff(half * 3 / 4) <= us(2_000), "{:?}", in_other[1].stats().busy);
    assert_eq!(tenants.children().len(), 1);
    assert_eq!(other_got + tenants.stats().branch_busy, sim.now(), "guests that are gone are counted");
}

#[test]
fn a_change_of_share_counts_in_its_branch_also_in_the_middle_of_a_slice() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (tenants, beside) = (top(&ex, "tenants", 1), top(&ex, "beside", 1));
    let (a, b) = (below(&tenants, "a", 1), below(&tenants, "b", 1));
    for queue in [&a, &b, &beside] {
        queue.spawn(compute(&sim, us(10)));
    }
    let (sim2, a2) = (sim.clone(), a.clone());
    a.spawn(async move {
        sim2.sleep_until(SECOND).await;
        sim2.work(us(3));
        a2.set_share(9).unwrap();
        a2.set_request(us(100)).unwrap();
        sim2.work(us(3));
    });
    sim.run(&ex, sim.sleep_until(SECOND));
    let before = [&a, &b, &beside].map(|queue| queue.stats().busy);
    sim.run(&ex, sim.sleep_until(3 * SECOND));
    let after = [&a, &b, &beside].map(|queue| queue.stats().busy);
    for ((had, has), due) in before.into_iter().zip(after).zip([900_000, 100_000, 1_000_000]) {
        assert!((has - had).abs_diff(us(due)) <= us(2_000), "{:?} of {due} µs", has - had);
    }
}

/// Eight queues above one: the whole way up is charged, and shares multiply.
#[test]
fn as_deep_as_can_be() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let mut way = vec![top(&ex, "0", 1)];
    let mut beside = vec![top(&ex, "beside 0", 1)];
    for depth in 1..=clockworker::MAX_DEPTH {
        let parent = way.last().unwrap().clone();
        way.push(below(&parent, &depth.to_string(), 1));
        beside.push(below(&parent, &format!("beside {depth}"), 1));
    }
    let leaf = way.last().unwrap();
    let all: Vec<_> = beside.iter().chain([leaf]).collect();
    saturate(&sim, &ex, &all, 16 * SECOND);
    let parts = beside.iter().enumerate().map(|(depth, queue)| (queue, 1 << (8 - depth)));
    let all: Vec<_> = parts.chain([(leaf, 1)]).collect();
    let whole = busy(leaf) * 512;
    assert!(whole.abs_diff(sim.now().as_nanos()) <= 512 * 50_000, "{whole}");
    assert_parts(&all[..5]);
    assert_eq!(way[0].stats().branch_busy + beside[0].stats().busy, sim.now());
}
