//! The bound of what a capped queue gets in any stretch of time, attacked.

use std::time::Duration;

use clockworker::{Cap, yield_now};

use super::super::shares::SECOND;
use super::{cap, capped, fifth, ms, ticking, work};
use crate::support::{Spans, VirtualTime, compute, us};

/// The greatest excess over the bound: quota for each period that a stretch touches, burst, and one poll.
fn excess(spans: &Spans, cap: Cap, longest: Duration) -> i128 {
    let all: Vec<_> = spans.all().into_iter().filter(|span| span.0 < span.1).collect();
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
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", cap);
    let (sim2, spans2, moves2) = (sim.clone(), spans.clone(), moves.to_vec());
    queue.spawn(async move {
        for (step, &length) in moves2.iter().cycle().enumerate() {
            match (step % moves2.len()) % 2 {
                0 => {
                    spans2.work(&sim2, us(length));
                    yield_now().await;
                }
                _ if length > 0 => sim2.sleep(us(length)).await,
                _ => {}
            }
        }
    });
    if beside {
        ex.spawn(compute(&sim, us(30)));
    }
    sim.run(&ex, ticking(&sim, cap.period(), cap.period() * 30));
    let longest = moves.iter().step_by(2).copied().max().unwrap_or(0);
    assert!(queue.stats().busy > Duration::ZERO);
    excess(&spans, cap, us(longest))
}

/// Climbs from random programs of polls and naps to ones that have more than the bound: there are none.
#[test]
fn no_program_gets_more_than_its_bound() {
    let mut seed = 0x5eed_u64;
    let mut draw = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut worst = i128::MIN;
    for start in 0..24 {
        // Short polls and long ones, without and with a burst, alone and beside another queue.
        let (longest, burst) = ([25, 80, 400, 1_200][start % 4], [0, 50, 200][start / 4 % 3]);
        let cap = cap(us(200), us(1_000)).with_burst(us(burst)).unwrap();
        let beside = start >= 12;
        let mut program: Vec<u64> = (0..6).map(|_| draw(longest)).collect();
        let mut best = attack(cap, &program, beside);
        for _ in 0..12 {
            let mut next = program.clone();
            let at = draw(6) as usize;
            next[at] = if at.is_multiple_of(2) { draw(longest) } else { draw(1_200) * draw(2) };
            let found = attack(cap, &next, beside);
            if found >= best {
                (program, best) = (next, found);
            }
        }
        assert!(best <= 0, "seed 0x5eed, start {start}: {best} ns over the bound by {program:?}");
        worst = worst.max(best);
    }
    // It is as good as reached: all lengths are whole microseconds, and less than a poll can be overrun.
    assert_eq!(worst, -1_000);
}

#[test]
fn jitter_takes_nothing_from_the_quota() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let polls: Vec<_> = (0..97).map(|n| us(37 + n * n * 31 % 5_003)).collect();
    let longest = polls.iter().max().copied().unwrap();
    queue.spawn(work(&sim, &spans, polls));
    ex.spawn(compute(&sim, us(330)));
    let mut lengths = (1..).map(|n| us(130 + n * 7_919 % 1_000));
    sim.run(&ex, async {
        while sim.now() < 20 * SECOND {
            sim.sleep(lengths.next().unwrap()).await;
        }
    });
    // 200 periods: all of each, and a poll more or less at the end.
    let got = spans.within(ms(0), 20 * SECOND);
    assert!(got.abs_diff(ms(20) * 200) <= longest, "{got:?}");
    assert!(excess(&spans, fifth(), longest) <= 0);
    assert_eq!(ex.stats().busy, sim.now());
}
