//! What the burst gives to tenants that are idle most of the time, and what it costs the others.

use std::collections::VecDeque;

use clockworker_schedulers::{FairGroups, RunnableFifo, Scheduler};
use fastrand::Rng;

use super::super::world::{End, World};

/// A request has so many polls of so long.
const POLLS: u32 = 5;
const POLL_NS: u64 = 20_000;

fn percentile(times: &mut [u64], part: f64) -> u64 {
    times.sort_unstable();
    times[(times.len() as f64 * part) as usize]
}

/// The 99th percentile of what a request of a quiet tenant takes beside so many busy ones, in nanoseconds. Tenant 0 is quiet.
fn quiet_beside(busy: u64, policy: FairGroups) -> u64 {
    let mut world = World::new(policy);
    (0..=busy).for_each(|key| world.join(key, 1, 1));
    let (mut random, mut times) = (Rng::with_seed(1), Vec::new());
    let (mut woken_at, mut polls, mut next) = (0, 0, 0);
    while times.len() < 5_000 {
        let polled = world.poll(|key| {
            let is_last = key == 0 && polls + 1 == POLLS;
            (POLL_NS, if is_last { End::Sleeps } else { End::Yields })
        });
        polls += u32::from(polled == Some(0));
        if polls == POLLS {
            times.push(world.passed_ns - woken_at);
            // It has been idle for long enough to have its burst again.
            let share_ns = (busy + 1) * u64::from(POLLS) * POLL_NS;
            next = world.passed_ns + share_ns + random.u64(..2 * share_ns);
            polls = 0;
        }
        if world.passed_ns >= next && world.wake(0) {
            woken_at = world.passed_ns;
        }
    }
    percentile(&mut times, 0.99)
}

#[test]
fn a_request_within_the_burst_is_served_at_a_stretch() {
    for (busy, without_ns) in [(1, 180_000), (10, 1_080_000), (100, 10_060_000)] {
        assert_eq!(quiet_beside(busy, FairGroups::new().with_burst_ns(0)), without_ns, "{busy} busy");
        assert_eq!(quiet_beside(busy, FairGroups::new()), u64::from(POLLS) * POLL_NS, "{busy} busy");
    }
}

/// A tenant that takes more than its share has no burst, and waits its turn.
#[test]
fn a_burst_comes_back_no_sooner_than_it_was_paid_for() {
    let mut world = World::fair();
    (0..=10).for_each(|key| world.join(key, 1, 1));
    let from = world.received_ns(0);
    let mut polls = 0;
    while world.passed_ns < 1_000_000_000 {
        // It sleeps after each request, and is woken at once.
        let polled = world.poll(|key| {
            let sleeps = key == 0 && polls % POLLS == POLLS - 1;
            (POLL_NS, if sleeps { End::Sleeps } else { End::Yields })
        });
        polls += u32::from(polled == Some(0));
        world.wake(0);
    }
    let share_ns = world.passed_ns / 11;
    let over_ns = (world.received_ns(0) - from).saturating_sub(share_ns);
    assert!(over_ns <= FairGroups::new().burst_ns() + 2 * POLL_NS, "{over_ns} more than its share");
}

/// The part of all messages of equal clients, which keep the thread busy for nine tenths of the time, that take longer.
fn equal_clients(policy: impl Scheduler, part: f64) -> u64 {
    const CLIENTS: u64 = 200;
    let mut world = World::new(policy);
    (0..CLIENTS).for_each(|key| world.join(key, 1, 1));
    while world.poll(|_| (1_000, End::Sleeps)).is_some() {}
    let mut random = Rng::with_seed(1);
    let (mut sent, mut times) = (vec![VecDeque::new(); CLIENTS as usize], Vec::new());
    let mut next = world.passed_ns;
    while times.len() < 200_000 {
        while next <= world.passed_ns {
            let client = random.u64(..CLIENTS);
            sent[client as usize].push_back(next);
            if sent[client as usize].len() == 1 {
                world.wake(client);
            }
            next += (-(1.0 - random.f64()).ln() * 11_111.0) as u64;
        }
        let length = 1_000 + random.u64(..=18_000);
        let mut is_left = false;
        let polled = world.poll(|client| {
            is_left = sent[client as usize].len() > 1;
            (length, if is_left { End::Yields } else { End::Sleeps })
        });
        match polled {
            Some(client) => {
                let came = sent[client as usize].pop_front().unwrap();
                times.push(world.passed_ns - came);
            }
            None => world.passed_ns = next,
        }
    }
    percentile(&mut times, part)
}

#[test]
fn equal_clients_wait_as_under_fifo() {
    for part in [0.5, 0.99, 0.999] {
        let fifo = equal_clients(RunnableFifo::new(), part);
        let fair = equal_clients(FairGroups::new(), part);
        assert!(fair <= fifo + fifo / 20, "{part}: {fair} ns, under FIFO {fifo}");
    }
    // Without a burst the message waits that follows a long one.
    let (fifo, fair) =
        (equal_clients(RunnableFifo::new(), 0.99), equal_clients(FairGroups::new().with_burst_ns(0), 0.99));
    assert!(fair > 2 * fifo, "{fair} ns, under FIFO {fifo}");
}
