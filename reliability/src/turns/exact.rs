//! Turns on a manual clock, which only polls of tasks move.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, ManualClock};
use clockworker_testing::host::Host;
use clockworker_testing::policy::Policy;
use fastrand::Rng;

use crate::cases::{Worst, log_uniform};

/// Where one queue alone has work, and its scheduler needs no time, the clock is read once in so many polls or sooner.
const UNREAD_POLLS: u64 = 32;

/// The worst that was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    pub(super) turns: u64,
    /// How long the host waited for the end of a turn, in parts of its time budget and one poll; the clock is read after
    /// each poll.
    pub(super) read: Worst,
    /// The same in parts of the budget and 32 polls, where the clock is not read after each.
    pub(super) unread: Worst,
    /// Polls in a turn, in parts of the poll cap.
    pub(super) polls: Worst,
}

struct Scene {
    clock: ManualClock,
    rng: RefCell<Rng>,
    /// In nanoseconds.
    longest_poll: u64,
    /// Polls take next to nothing, but once in so many.
    seldom: u64,
    polls_left: Cell<u64>,
    /// In this turn.
    polls: Cell<u64>,
}

/// Plays a random scene on a host.
pub(super) fn play(host: Host, seed: u64, gaps: &mut Gaps) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let budget = log_uniform(&mut rng, 1_000, 1_000_000);
    let cap = log_uniform(&mut rng, 1, 10_000);
    let is_read = rng.bool();
    let queues = rng.usize(1..=4);
    let clock = ManualClock::new();
    let builder = Executor::builder().clock(clock.clone()).poll_cap(cap as u32);
    let ex = builder.host_budget(Duration::from_nanos(budget)).build()?;
    let longest_poll = log_uniform(&mut rng, 100, 500_000);
    let (seldom, polls_left) = (rng.u64(1..=100), Cell::new(rng.u64(100..=1_000)));
    let polls = Cell::new(0);
    let scene = Rc::new(Scene { clock, rng: RefCell::new(rng), longest_poll, seldom, polls_left, polls });
    for index in 0..queues {
        let policy = if is_read { Policy::Las } else { Policy::RunnableFifo };
        let queue = policy.create(ex.new_queue(&index.to_string()))?;
        for _ in 0..scene.rng.borrow_mut().u32(1..=4) {
            let _detached = queue.spawn(work(Rc::clone(&scene)));
        }
    }
    let longest = budget + longest_poll * if is_read { 1 } else { UNREAD_POLLS };
    let mut run = pin!(ex.run_until(ex.drained()));
    host.block_on(poll_fn(|cx| {
        let began = scene.clock.now();
        scene.polls.set(0);
        let polled = run.as_mut().poll(cx);
        let gap = (scene.clock.now() - began).as_nanos() as f64;
        gaps.turns += 1;
        let worst = if is_read { &mut gaps.read } else { &mut gaps.unread };
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
            if rng.u64(..scene.seldom) == 0 {
                scene.longest_poll
            } else {
                rng.u64(..=scene.longest_poll / 50)
            }
        };
        scene.clock.advance(Duration::from_nanos(time));
        clockworker::yield_now().await;
    }
    // The poll in which it finishes.
    scene.polls.set(scene.polls.get() + 1);
}
