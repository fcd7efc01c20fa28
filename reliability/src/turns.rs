//! Promise 7: the host gets its thread back after as many polls as the cap says, or its time budget and the polls between two
//! readings of the clock: one, where polls take 2 µs or more.
//!
//! Turns are measured on a manual clock, which only polls of tasks move. How late the timers of real hosts are is measured
//! by the real clock, so it is only told.

#![allow(clippy::disallowed_methods, reason = "it measures how late real timers are")]

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clockworker::{Executor, ManualClock};
use clockworker_testing::host::Host;
use clockworker_testing::policy::Policy;
use fastrand::Rng;

pub(crate) use crate::cases::Cases as Options;
use crate::cases::{Worst, log_uniform};
use crate::figure::{Figure, at_most, told};

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let sleeps = if options.quick { 200 } else { 10_000 };
    let mut figures = Vec::new();
    for &host in Host::ALL {
        let mut gaps = Gaps::default();
        options.play(2_000, 100, |seed| play(host, seed, &mut gaps))?;
        figures.extend([
            told(7, format!("turns on a manual clock, {host}"), gaps.turns),
            told(7, format!("seed of the longest turn, {host}"), gaps.timed.seed),
        ]);
        let held = [
            ("longest turn / (budget + longest poll), no poll below 2 µs", gaps.timed),
            ("longest turn / (budget + 15 polls), polls timed by lot", gaps.sampled),
            ("longest turn / (budget + 32 polls), scheduler needs no time", gaps.unread),
            ("polls in a turn / poll cap", gaps.polls),
        ];
        figures.extend(held.map(|(what, worst)| at_most(7, format!("{what}, {host}"), worst.value, 1.0)));
        if matches!(host, Host::Alone | Host::Spinning) {
            // They have no timers.
            continue;
        }
        let late = lateness(host, sleeps)?;
        figures.extend([("p50", 500), ("p99.9", 999)].map(|(name, per_mille)| {
            let what = format!("lateness of 1 ms timers beside busy tasks, {name}, µs, {host}");
            told(7, what, late.get((late.len() - 1) * per_mille / 1_000).copied().unwrap_or(f64::NAN))
        }));
    }
    Ok(figures)
}

/// Where one queue alone has work, and its scheduler needs no time, the clock is read once in so many polls or sooner.
const UNREAD_POLLS: u64 = 32;

/// Where the scheduler asks for service.
const SAMPLED_POLLS: u64 = 15;

#[derive(Debug, Default)]
struct Gaps {
    turns: u64,
    /// How long the host waited for the end of a turn, in parts of its time budget and as many polls as there may be between
    /// two readings: where each poll is timed,
    timed: Worst,
    /// where the scheduler asks for service and polls are timed by lot,
    sampled: Worst,
    /// and where it does not ask.
    unread: Worst,
    /// Polls in a turn, in parts of the poll cap.
    polls: Worst,
}

/// When the clock is read in a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// After every poll, as none is short.
    Always,
    ByLot,
    Seldom,
}

/// Polls of this length and more are each timed. Nanoseconds.
const TIMED_NS: u64 = 2_000;

struct Scene {
    clock: ManualClock,
    rng: RefCell<Rng>,
    /// In nanoseconds.
    shortest_poll: u64,
    longest_poll: u64,
    /// Polls take next to nothing, but once in so many.
    seldom: u64,
    polls_left: Cell<u64>,
    /// In this turn.
    polls: Cell<u64>,
}

fn play(host: Host, seed: u64, gaps: &mut Gaps) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let budget = log_uniform(&mut rng, 1_000, 1_000_000);
    let cap = log_uniform(&mut rng, 1, 10_000);
    let clock_is_read = [Reading::Always, Reading::ByLot, Reading::Seldom][rng.usize(..3)];
    let queues = rng.usize(1..=4);
    let clock = ManualClock::new();
    let builder = Executor::builder().clock(clock.clone()).poll_cap(cap as u32);
    let ex = builder.host_budget(Duration::from_nanos(budget)).build()?;
    let shortest_poll = if clock_is_read == Reading::Always { TIMED_NS } else { 0 };
    let longest_poll = log_uniform(&mut rng, 100, 500_000).max(shortest_poll);
    let (seldom, polls_left) = (rng.u64(1..=100), Cell::new(rng.u64(100..=1_000)));
    let polls = Cell::new(0);
    let scene = Rc::new(Scene {
        clock,
        rng: RefCell::new(rng),
        shortest_poll,
        longest_poll,
        seldom,
        polls_left,
        polls,
    });
    for index in 0..queues {
        let policy = if clock_is_read != Reading::Seldom { Policy::Las } else { Policy::RunnableFifo };
        let queue = policy.create(ex.new_queue(&index.to_string()))?;
        for _ in 0..scene.rng.borrow_mut().u32(1..=4) {
            let _detached = queue.spawn(work(Rc::clone(&scene)));
        }
    }
    let (worst, polls) = match clock_is_read {
        Reading::Always => (&mut gaps.timed, 1),
        Reading::ByLot => (&mut gaps.sampled, SAMPLED_POLLS),
        Reading::Seldom => (&mut gaps.unread, UNREAD_POLLS),
    };
    let longest = budget + longest_poll * polls;
    let mut run = pin!(ex.run_until(ex.drained()));
    host.block_on(poll_fn(|cx| {
        let began = scene.clock.now();
        scene.polls.set(0);
        let polled = run.as_mut().poll(cx);
        let gap = (scene.clock.now() - began).as_nanos() as f64;
        gaps.turns += 1;
        worst.add(gap / longest as f64, seed);
        gaps.polls.add(scene.polls.get() as f64 / cap as f64, seed);
        polled
    }))?;
    Ok(())
}

async fn work(scene: Rc<Scene>) {
    while let Some(left) = scene.polls_left.get().checked_sub(1) {
        scene.polls_left.set(left);
        scene.polls.set(scene.polls.get() + 1);
        let time = {
            let mut rng = scene.rng.borrow_mut();
            let is_long = rng.u64(..scene.seldom) == 0;
            let short = rng.u64(..=scene.longest_poll / 50).max(scene.shortest_poll);
            if is_long { scene.longest_poll } else { short }
        };
        scene.clock.advance(Duration::from_nanos(time));
        clockworker::yield_now().await;
    }
    // The poll in which it finishes.
    scene.polls.set(scene.polls.get() + 1);
}

const SLEEP: Duration = Duration::from_millis(1);

/// How long a poll of the tasks beside the timers computes.
const POLL: Duration = Duration::from_micros(20);

/// How late a host's timers were in so many sleeps beside two queues of four tasks each, in microseconds, sorted.
fn lateness(host: Host, sleeps: u32) -> anyhow::Result<Vec<f64>> {
    let ex = Executor::new();
    let stop = Rc::new(Cell::new(false));
    let queues = [ex.new_queue("one").create()?, ex.new_queue("four").share(4).create()?];
    for queue in &queues {
        for _ in 0..4 {
            let _detached = queue.spawn(compute(Rc::clone(&stop)));
        }
    }
    let mut late = host.run(&ex, async {
        let mut late = Vec::new();
        for _ in 0..sleeps {
            let due = Instant::now() + SLEEP;
            sleep(host).await;
            late.push(Instant::now().saturating_duration_since(due).as_nanos() as f64 / 1_000.0);
        }
        stop.set(true);
        ex.drained().await;
        late
    })?;
    late.sort_by(f64::total_cmp);
    Ok(late)
}

async fn compute(stop: Rc<Cell<bool>>) {
    while !stop.get() {
        let began = Instant::now();
        while began.elapsed() < POLL {
            std::hint::spin_loop();
        }
        clockworker::yield_now().await;
    }
}

async fn sleep(host: Host) {
    match host {
        Host::Tokio => tokio::time::sleep(SLEEP).await,
        #[cfg(target_os = "linux")]
        Host::Monoio => monoio::time::sleep(SLEEP).await,
        // smol's timers work anywhere.
        Host::Smol | Host::Alone | Host::Spinning => drop(smol::Timer::after(SLEEP).await),
    }
}
