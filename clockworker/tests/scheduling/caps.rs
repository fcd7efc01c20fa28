//! Caps: a queue gets its quota per period and its burst, pays for what a poll overruns, and leaves the rest to others.

use std::cell::RefCell;
use std::future::{Future, pending, ready};
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Cap, Executor, Queue, yield_now};

use super::shares::SECOND;
use crate::support::{OnDrop, Signal, Spans, VirtualTime, compute, us};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn cap(quota: Duration, period: Duration) -> Cap {
    Cap::new(quota, period).unwrap()
}

/// A fifth of the thread, in periods of 100 ms.
fn fifth() -> Cap {
    cap(ms(20), ms(100))
}

fn capped(ex: &Executor, name: &str, cap: Cap) -> Queue {
    ex.new_queue(name).cap(cap).create().unwrap()
}

/// Computes for ever in polls of these lengths, one after the other.
fn work(sim: &VirtualTime, spans: &Spans, polls: Vec<Duration>) -> impl Future<Output = ()> + use<> {
    let (sim, spans) = (sim.clone(), spans.clone());
    async move {
        for poll in polls.into_iter().cycle() {
            spans.work(&sim, poll);
            yield_now().await;
        }
    }
}

/// A manual clock has no alarm: something looks at it every `tick`, until `end`.
async fn ticking(sim: &VirtualTime, tick: Duration, end: Duration) {
    while sim.now() < end {
        sim.sleep(tick).await;
    }
}

fn counts(queue: &Queue) -> (u64, u64, Duration) {
    let stats = queue.stats();
    (stats.periods, stats.throttled_periods, stats.throttled_time)
}

// ---- Options

#[test]
fn a_cap_has_bounds() {
    let text = |result: Result<Cap, clockworker::CapError>| result.unwrap_err().to_string();
    for (quota, period, says) in [
        (ms(1), ms(0), "a cap's period must be more than zero"),
        (ms(0), ms(100), "a cap's quota is more than zero and at most its period, 100ms, not 0ns"),
        (ms(101), ms(100), "a cap's quota is more than zero and at most its period, 100ms, not 101ms"),
    ] {
        assert_eq!(text(Cap::new(quota, period)), says);
    }
    assert_eq!(text(Cap::percent(0, ms(1))), "a cap is between 1 and 100 percent of its period, not 0");
    assert_eq!(text(Cap::percent(101, ms(1))), "a cap is between 1 and 100 percent of its period, not 101");
    assert!(Cap::percent(1, Duration::from_nanos(99)).unwrap_err().is_quota(), "less than a nanosecond");
    assert_eq!(text(fifth().with_burst(ms(21))), "a cap's burst is at most its quota, 20ms, not 21ms");
    let kinds = |error: clockworker::CapError| [error.is_period(), error.is_quota(), error.is_burst()];
    assert_eq!(kinds(Cap::new(ms(1), ms(0)).unwrap_err()), [true, false, false]);
    assert_eq!(kinds(Cap::new(ms(2), ms(1)).unwrap_err()), [false, true, false]);
    assert_eq!(kinds(Cap::percent(0, ms(1)).unwrap_err()), [false, true, false]);
    assert_eq!(kinds(fifth().with_burst(ms(30)).unwrap_err()), [false, false, true]);
}

#[test]
fn a_cap_is_what_it_was_made_of() {
    assert_eq!(Cap::percent(20, ms(100)).unwrap(), fifth());
    let odd = Cap::percent(33, Duration::from_nanos(1_234_567)).unwrap();
    assert_eq!(odd.quota(), Duration::from_nanos(407_407));
    assert_eq!(Cap::percent(100, Duration::MAX).unwrap().quota(), Duration::MAX);
    let burst = fifth().with_burst(ms(20)).unwrap();
    assert_eq!((burst.quota(), burst.period(), burst.burst()), (ms(20), ms(100), ms(20)));
    let ex = Executor::new();
    let queue = capped(&ex, "a", burst);
    assert_eq!((queue.cap(), ex.default_queue().cap()), (Some(burst), None));
    queue.set_cap(None).unwrap();
    queue.set_cap(None).unwrap();
    assert_eq!(queue.cap(), None);
    queue.close();
    assert!(queue.set_cap(Some(burst)).unwrap_err().is_closed());
    assert_eq!(queue.cap(), None);
}

// ---- One capped queue

#[test]
fn alone_it_works_for_its_quota_in_each_period() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(5)]));
    sim.run(&ex, ticking(&sim, ms(100), SECOND));
    let starts: Vec<_> =
        (0..10).flat_map(|period| (0..4).map(move |poll| ms(100 * period + 5 * poll))).collect();
    assert_eq!(spans.starts()[..40], starts);
    assert_eq!(counts(&queue), (11, 10, ms(800)));
    assert_eq!(queue.stats().overruns, 0, "nobody waited");
}

#[test]
fn what_a_poll_overruns_is_paid_from_the_next_periods() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(50)]));
    sim.run(&ex, ticking(&sim, ms(10), ms(1_100)));
    // 30 too many after the first: -10 at 100, 10 at 200. Then 40 too many, which need all of two periods.
    assert_eq!(spans.starts(), [0, 200, 500, 700, 1_000].map(ms));
    // Throttled in every period, but not in that of 1,100, which has just begun.
    assert_eq!(counts(&queue), (12, 11 + 1, ms(1_100 - 5 * 50)));
}

#[test]
fn a_turn_that_comes_late_finds_what_has_come_together_once() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(10)]));
    // The host comes back every 350 ms, and finds one quota.
    sim.run(&ex, ticking(&sim, ms(350), ms(700)));
    assert_eq!(spans.starts(), [0, 10, 350, 360, 370, 380, 700, 710].map(ms)[..spans.starts().len()]);
}

#[test]
fn a_burst_is_what_earlier_periods_left_over() {
    let (sim, spans, signal) = (VirtualTime::new(), Spans::new(), Signal::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth().with_burst(ms(15)).unwrap());
    queue.spawn({
        let (sim, spans, signal) = (sim.clone(), spans.clone(), signal.clone());
        async move {
            loop {
                signal.wait().await;
                for _ in 0..20 {
                    spans.work(&sim, ms(5));
                    yield_now().await;
                }
            }
        }
    });
    sim.run(&ex, async {
        sim.sleep_until(ms(510)).await;
        signal.set();
        ticking(&sim, ms(10), ms(890)).await;
    });
    // Five periods left 20 each, of which 15 are kept. Later ones leave nothing.
    let per_period: Vec<_> =
        (5..9).map(|period| spans.within(ms(100 * period), ms(100 * period + 100))).collect();
    assert_eq!(per_period, [35, 20, 20, 20].map(ms));
    // The first period is that of the poll in which the task began to wait.
    assert_eq!(counts(&queue), (1 + 4, 4, ms(890 - 510 - 95)));
}

#[test]
fn without_work_it_is_not_throttled_and_nobody_is_woken_for_it() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move { spans2.work(&sim2, ms(30)) });
    sim.drain(&ex);
    assert_eq!((ex.stats().host_polls, counts(&queue)), (1, (1, 0, ms(0))));
    // Spent, and then there is work: it waits for what is left of its punishment.
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move { spans2.work(&sim2, ms(1)) });
    sim.run(&ex, ticking(&sim, ms(35), ms(130)));
    assert_eq!(spans.starts(), [0, 100].map(ms));
    assert_eq!(counts(&queue), (2, 1, ms(70)));
}

/// When it may work for a millisecond, `first` times before a nap and then `second` times, with a fifth of the thread.
fn starts(first: u64, nap: u64, second: u64) -> Vec<Duration> {
    let (mut now, mut left, mut starts) = (0, 20, Vec::new());
    let mut pass = |works: bool| {
        if works {
            starts.push(ms(now));
        }
        left -= i64::from(works);
        now += 1;
        if now % 100 == 0 {
            left = (left + 20).min(20);
        }
        left
    };
    let mut left = 20;
    for works in [first, second] {
        for _ in 0..works {
            while left <= 0 {
                left = pass(false);
            }
            left = pass(true);
        }
        // The poll in which it falls asleep, too, waits for what it needs.
        while left <= 0 {
            left = pass(false);
        }
        for _ in 0..nap {
            left = pass(false);
        }
    }
    starts
}

/// Wherever in a period it sleeps and wakes: it is throttled if it has used its quota, and not before.
#[test]
fn it_may_sleep_and_wake_at_any_point_of_a_period() {
    for (first, nap, second) in (1..=26).flat_map(|a| (1..=120).step_by(7).map(move |b| (a, b, 27 - a))) {
        let (sim, spans) = (VirtualTime::new(), Spans::new());
        let ex = sim.executor();
        let queue = capped(&ex, "a", fifth());
        let (sim2, spans2) = (sim.clone(), spans.clone());
        queue.spawn(async move {
            for works in [first, second] {
                for _ in 0..works {
                    spans2.work(&sim2, ms(1));
                    yield_now().await;
                }
                sim2.sleep(ms(nap)).await;
            }
        });
        sim.run(&ex, ticking(&sim, ms(1), ms(500)));
        assert_eq!(queue.stats().completed, 1);
        assert_eq!(spans.starts(), starts(first, nap, second), "{first} {nap} {second}");
    }
}

// ---- Beside others

#[test]
fn others_have_what_it_leaves() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(compute(&sim, us(100)));
    ex.spawn(compute(&sim, us(100)));
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!(ex.stats().busy, SECOND, "never idle");
    assert_eq!(queue.stats().busy, ms(200));
}

/// The slice of another ends when the period begins: a throttled queue does not wait for the end of a long request.
#[test]
fn it_goes_on_after_the_poll_under_way() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = ex.new_queue("a").request(us(10)).cap(cap(us(50), ms(1))).create().unwrap();
    queue.spawn(work(&sim, &spans, vec![us(50)]));
    let long = ex.new_queue("long").request(SECOND).create().unwrap();
    long.spawn(compute(&sim, us(30)));
    sim.run(&ex, sim.sleep_until(ms(100)));
    for (period, start) in spans.starts().into_iter().enumerate() {
        let late = start - ms(period as u64);
        assert!(late < us(30), "period {period}: {late:?}");
    }
    assert_eq!(spans.starts().len(), 100);
    assert_eq!(long.stats().overruns, 0, "its slices were cut short");
}

#[test]
fn two_capped_queues_have_each_its_own() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queues = [(20, 100), (21, 70)].map(|(quota, period)| {
        let queue = capped(&ex, &format!("{quota}"), cap(ms(quota), ms(period)));
        queue.spawn(compute(&sim, us(500)));
        queue
    });
    sim.run(&ex, ticking(&sim, ms(1), ms(700)));
    let busy = queues.each_ref().map(|queue| queue.stats().busy);
    assert_eq!(busy, [ms(140), ms(210)]);
    // And beside a third, which has the rest.
    ex.spawn(compute(&sim, us(500)));
    sim.run(&ex, ticking(&sim, ms(1), ms(1_400)));
    let more = [0, 1].map(|i| queues[i].stats().busy - busy[i]);
    assert_eq!((more, ex.default_queue().stats().busy), ([ms(140), ms(210)], ms(350)));
}

/// Caps that leave less than shares would: the shares among the rest are as they were.
#[test]
fn the_rest_is_shared_as_ever() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let capped = ex.new_queue("capped").share(1_000).cap(cap(ms(1), ms(10))).create().unwrap();
    let [one, three] = [1, 3].map(|share| ex.new_queue(&share.to_string()).share(share).create().unwrap());
    [&capped, &one, &three].into_iter().for_each(|queue| drop(queue.spawn(compute(&sim, us(50)))));
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!(capped.stats().busy, ms(100));
    let (one, three) = (one.stats().busy, three.stats().busy);
    assert_eq!(one + three, ms(900));
    assert!((one * 3).abs_diff(three) <= us(4 * 550), "{one:?} {three:?}");
}

/// What it might have had while it was throttled it does not have afterwards: a creditor keeps two turns.
#[test]
fn it_hoards_nothing_while_it_is_throttled() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = ex.new_queue("a").request(us(100)).cap(cap(ms(50), ms(100))).create().unwrap();
    queue.spawn(work(&sim, &spans, vec![us(100)]));
    let other = ex.new_queue("other").request(us(100)).create().unwrap();
    other.spawn(compute(&sim, us(100)));
    sim.run(&ex, sim.sleep_until(SECOND));
    // Half each, in turns, as long as it has something left: it never takes more than two turns from the other.
    for start in (0..1_000_000).step_by(1_700) {
        let got = spans.within(us(start), us(start + 2_000));
        assert!(got <= us(1_000 + 300), "{got:?} in the 2 ms from {start} µs");
    }
    assert_eq!(queue.stats().busy, ms(500));
}

#[test]
fn an_idle_queue_may_be_capped() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let [a, b] = [10, 90].map(|percent| {
        let cap = Cap::percent(percent, ms(10)).unwrap();
        ex.new_queue(&percent.to_string()).idle().cap(cap).create().unwrap()
    });
    [&a, &b].into_iter().for_each(|queue| drop(queue.spawn(compute(&sim, us(100)))));
    let main = ex.new_queue("main").create().unwrap();
    main.spawn({
        let sim = sim.clone();
        async move {
            loop {
                sim.work(ms(3));
                sim.sleep(ms(7)).await;
            }
        }
    });
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!(a.stats().busy, ms(100));
    let (main, b) = (main.stats().busy, b.stats().busy);
    assert!(main.abs_diff(ms(300)) <= ms(4) && b >= ms(590), "{main:?} {b:?}");
}

// ---- Changes

#[test]
fn a_cap_may_be_changed_midway() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(1)]));
    let per_period =
        |from: u64| (from..from + 3).map(|period| spans.within(ms(100 * period), ms(100 * period + 100)));
    sim.run(&ex, ticking(&sim, ms(1), ms(50)));
    // It has used 20, so 30 are left of the 50, and it goes on at once.
    queue.set_cap(Some(cap(ms(50), ms(100)))).unwrap();
    sim.run(&ex, ticking(&sim, ms(1), ms(300)));
    assert_eq!(Vec::from_iter(per_period(0)), [50, 50, 50].map(ms));
    // A smaller one, in the middle of its work: it has used 30, so it pays for 20 of them.
    sim.run(&ex, ticking(&sim, ms(1), ms(330)));
    queue.set_cap(Some(cap(ms(10), ms(100)))).unwrap();
    sim.run(&ex, ticking(&sim, ms(1), ms(600)));
    assert_eq!(Vec::from_iter(per_period(3)), [30, 0, 0].map(ms));
    // None, and one of its own length, which begins when it is set.
    queue.set_cap(None).unwrap();
    sim.run(&ex, ticking(&sim, ms(1), ms(700)));
    assert!(spans.within(ms(600), ms(700)) >= ms(99));
    queue.set_cap(Some(cap(ms(5), ms(50)))).unwrap();
    let from = sim.now();
    sim.run(&ex, ticking(&sim, ms(1), from + ms(149)));
    let got: Vec<_> =
        (0..3).map(|period| spans.within(from + ms(50 * period), from + ms(50 * period + 50))).collect();
    assert_eq!(got, [5, 5, 5].map(ms));
}

/// A task caps its own queue, or another's, which is running or throttled.
#[test]
fn tasks_may_change_caps() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = ex.new_queue("a").create().unwrap();
    let own = queue.clone();
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move {
        for poll in 0..20 {
            match poll {
                3 => own.set_cap(Some(cap(ms(2), ms(100)))).unwrap(),
                6 => own.set_cap(None).unwrap(),
                _ => {}
            }
            spans2.work(&sim2, ms(1));
            yield_now().await;
        }
    });
    sim.run(&ex, ticking(&sim, ms(1), ms(400)));
    // It is capped from 3 on: two polls, and the next when the period is over. That one takes the cap away.
    let starts: Vec<_> = [0, 1, 2, 3, 4].into_iter().chain(103..105).collect();
    assert_eq!(spans.starts()[..7], starts.into_iter().map(ms).collect::<Vec<_>>());
    assert_eq!(counts(&queue), (2, 1, ms(98)));
    // Throttled, until a task of another queue raises its cap.
    queue.set_cap(Some(cap(ms(1), SECOND))).unwrap();
    let spans = Spans::new();
    queue.spawn(work(&sim, &spans, vec![ms(1)]));
    let (sim2, queue2) = (sim.clone(), queue.clone());
    let at = sim.now();
    ex.spawn(async move {
        for poll in 0..10 {
            if poll == 5 {
                queue2.set_cap(Some(cap(ms(4), SECOND))).unwrap();
            }
            sim2.work(ms(1));
            yield_now().await;
        }
    });
    sim.run(&ex, ticking(&sim, ms(1), at + ms(100)));
    assert_eq!(spans.starts().len(), 4);
    assert!(spans.starts()[1] >= at + ms(6), "{:?}", spans.starts());
}

// ---- Aborts, closing, shutdown

#[test]
fn the_futures_of_a_throttled_queue_are_dropped_when_it_goes_on() {
    let (sim, spans, dropped) = (VirtualTime::new(), Spans::new(), Rc::new(RefCell::new(Vec::new())));
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(30)]));
    let guard = |length| {
        let (sim, dropped) = (sim.clone(), Rc::clone(&dropped));
        OnDrop::new(move || {
            dropped.borrow_mut().push(sim.now());
            sim.work(length);
        })
    };
    let victims = [5, 5, 5].map(|length| {
        let guard = guard(ms(length));
        queue.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        })
    });
    sim.run(&ex, ticking(&sim, ms(1), ms(40)));
    victims.iter().for_each(|victim| victim.abort());
    sim.run(&ex, ticking(&sim, ms(1), ms(250)));
    // 10 of 20 are left in the second period: two drops, and a third one in the next, before any poll.
    assert_eq!(dropped.take(), [100, 105, 200].map(ms));
    assert_eq!(spans.starts(), [0, 205].map(ms));
    assert!(victims.iter().all(|victim| victim.is_finished()));
}

#[test]
fn a_throttled_queue_may_be_closed_and_goes_when_its_tasks_are_done() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move {
        for _ in 0..2 {
            spans2.work(&sim2, ms(25));
            yield_now().await;
        }
    });
    sim.drain(&ex);
    queue.close();
    sim.run(&ex, ticking(&sim, ms(1), ms(99)));
    assert_eq!(ex.stats().queues.len(), 2);
    sim.run(&ex, ticking(&sim, ms(1), ms(210)));
    assert_eq!((ex.stats().queues.len(), spans.starts()), (1, vec![ms(0), ms(100)]));
    assert_eq!(counts(&queue), (3, 2, ms(2 * 75)), "what it did is kept");
}

#[test]
fn a_shutdown_ends_the_tasks_of_a_throttled_queue_at_its_deadline() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let task = queue.spawn(compute(&sim, ms(25)));
    sim.drain(&ex);
    let report = ex.block_on_shutdown(ready(()));
    assert_eq!((report.cancelled, task.is_finished()), (1, true));
    assert_eq!((sim.now(), queue.stats().ready), (ms(25), 0), "it was not polled for that");
    drop(ex);
    assert_eq!(queue.stats().throttled_periods, 1);
}

// ---- The bound

/// The greatest excess over the bound: quota for each period that a stretch touches, burst, and one poll.
fn excess(spans: &Spans, cap: Cap, longest: Duration) -> i128 {
    let all = spans.all();
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
    sim.run(&ex, ticking(&sim, us(10), cap.period() * 30));
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
        let burst = [0, 50, 200][start % 3];
        let cap = cap(us(200), us(1_000)).with_burst(us(burst)).unwrap();
        let mut program: Vec<u64> = (0..6).map(|_| draw(400)).collect();
        let mut best = attack(cap, &program, start % 2 == 0);
        for _ in 0..12 {
            let mut next = program.clone();
            let at = draw(6) as usize;
            next[at] =
                if draw(2) == 0 { draw(1_200) } else { next[at].saturating_add(draw(40)).saturating_sub(20) };
            let found = attack(cap, &next, start % 2 == 0);
            if found >= best {
                (program, best) = (next, found);
            }
        }
        assert!(best <= 0, "seed 0x5eed, start {start}: {best} ns over the bound by {program:?}");
        worst = worst.max(best);
    }
    // The search comes near it: a bound that no program approaches says nothing.
    assert!(worst > -60_000, "{worst} ns");
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
