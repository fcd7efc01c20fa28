//! The bound of what a capped queue gets in any stretch of time, attacked.

use std::time::Duration;

use clockworker::{Cap, yield_now};

use super::super::shares::SECOND;
use super::{cap, capped, fifth, ms, ticking};
use crate::support::*;

/// The greatest excess over the bound: quota for each period that a stretch touches, burst, and one poll.
fn excess(cap: Cap, longest: Duration) -> i128 {
    let all: Vec<_> = spans("a").into_iter().filter(|span| span.0 < span.1).collect();
    let period = cap.period().as_nanos();
    let mut worst = i128::MIN;
    for (first, &(from, _)) in all.iter().enumerate() {
        let mut served = Duration::ZERO;
        for &(begin, end) in &all[first..] {
            served += end - begin;
            let touched = (end.as_nanos() - 1) / period - from.as_nanos() / period + 1;
            let bound = touched * cap.quota().as_nanos() + cap.burst().as_nanos() + longest.as_nanos();
            worst = worst.max(served.as_nanos() as i128 - bound as i128);
        }
    }
    worst
}

/// Runs polls and naps in turn, 30 periods long, and returns how far the bound was from being broken.
fn attack(cap: Cap, moves: &[u64], beside: bool) -> i128 {
    let ex = world();
    let (queue, all) = (capped(&ex, cap), moves.to_vec());
    queue.spawn(async move {
        for (step, &length) in all.iter().enumerate().cycle() {
            match step % 2 {
                0 => {
                    polls("a", 1, us(length)).await;
                    yield_now().await;
                }
                _ if length > 0 => sleep(us(length)).await,
                _ => {}
            }
        }
    });
    if beside {
        ex.spawn(compute(us(30)));
    }
    run(&ex, ticking(cap.period(), cap.period() * 30));
    let longest = moves.iter().step_by(2).copied().max().unwrap_or(0);
    assert!(queue.stats().busy > Duration::ZERO);
    excess(cap, us(longest))
}

/// Climbs from random programs of polls and naps to ones that have more than the bound: there are none.
#[test]
fn no_program_gets_more_than_its_bound() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut worst = i128::MIN;
    for start in 0..24 {
        // Short polls and long ones, without and with a burst, alone and beside another queue.
        let (longest, burst) = ([25, 80, 400, 1_200][start % 4], [0, 50, 200][start / 4 % 3]);
        let cap = cap(us(200), us(1_000)).with_burst(us(burst)).unwrap();
        let beside = start >= 12;
        let program: Vec<u64> = (0..6).map(|_| random.u64(..longest)).collect();
        let change = |program: &Vec<u64>| {
            let (mut next, at) = (program.clone(), random.usize(..6));
            let is_nap = at % 2 == 1;
            next[at] = if is_nap { random.u64(..1_200) * random.u64(..2) } else { random.u64(..longest) };
            next
        };
        let (program, best) = climb(program, 12, change, |program| attack(cap, program, beside));
        assert!(best <= 0, "start {start}: {best} ns over the bound by {program:?}");
        worst = worst.max(best);
    }
    // It is as good as reached: all lengths are whole microseconds, and less than a poll can be overrun.
    assert_eq!(worst, -1_000);
}

#[test]
fn jitter_takes_nothing_from_the_quota() {
    let ex = world();
    let lengths = (0..97).map(|n| 37 + n * n * 31 % 5_003);
    let longest = us(lengths.clone().max().unwrap());
    capped(&ex, fifth()).spawn(async move {
        for length in lengths.cycle() {
            polls("a", 1, us(length)).await;
            yield_now().await;
        }
    });
    ex.spawn(compute(us(330)));
    let mut lengths = (1..).map(|n| us(130 + n * 7_919 % 1_000));
    run(&ex, async {
        while now() < 20 * SECOND {
            sleep(lengths.next().unwrap()).await;
        }
    });
    // 200 periods: all of each, and a poll more or less at the end.
    let got = within("a", ms(0), 20 * SECOND);
    assert!(got.abs_diff(ms(20) * 200) <= longest, "{got:?}");
    assert!(excess(fifth(), longest) <= 0);
    assert_eq!(ex.stats().busy, now());
}
