//! Promise 7: the host gets its thread back after as many polls as the poll cap says, or after its time budget and the polls
//! between two readings of the clock.
//!
//! Turns are measured on a manual clock, which only polls of tasks move.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, ManualClock};
use clockworker_testing::effort::each_seed;
use clockworker_testing::host::Host;
use clockworker_testing::policy::Policy;
use fastrand::Rng;

use super::{Reached, log_uniform};

#[test]
fn turns_keep_their_bounds_and_come_near_them() {
    for &host in Host::ALL {
        let turns = Turns::default();
        each_seed(200, 2_000, |seed| play(host, seed, &turns));
        let Turns { count, timed, by_lot, seldom, polls } = &turns;
        println!(
            "{host:?}: {} turns; longest / bound: {timed} where each poll is timed, {by_lot}",
            count.get()
        );
        println!("    by lot, {seldom} where the scheduler needs no time; polls / cap: {polls}");
        timed.assert_near(0.9);
        by_lot.assert_near(0.5);
        seldom.assert_near(0.4);
        polls.assert_near(0.99);
    }
}

/// When the clock is read in a slice.
#[derive(Clone, Copy)]
enum Reading {
    /// After every poll, as none is short.
    Always,
    /// The scheduler asks for service, and polls are timed by lot.
    ByLot,
    /// One queue alone has work, and its scheduler needs no time.
    Seldom,
}

impl Reading {
    /// Polls from one reading to the next, at most.
    fn polls(self) -> u64 {
        match self {
            Reading::Always => 1,
            Reading::ByLot => 15,
            Reading::Seldom => 32,
        }
    }
}

/// Polls of this length and more are each timed. Nanoseconds.
const TIMED_NS: u64 = 2_000;

/// How long the host waited for the end of a turn, as a part of its budget and the polls between two readings.
#[derive(Default)]
struct Turns {
    count: Cell<u64>,
    timed: Reached,
    by_lot: Reached,
    seldom: Reached,
    /// Polls in a turn, in parts of the poll cap.
    polls: Reached,
}

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

fn play(host: Host, seed: u64, turns: &Turns) {
    let mut rng = Rng::with_seed(seed);
    let budget = log_uniform(&mut rng, 1_000, 1_000_000);
    let cap = log_uniform(&mut rng, 1, 10_000);
    let reading = [Reading::Always, Reading::ByLot, Reading::Seldom][rng.usize(..3)];
    let (shortest_poll, policy, longest) = match reading {
        Reading::Always => (TIMED_NS, Policy::Las, &turns.timed),
        Reading::ByLot => (0, Policy::Las, &turns.by_lot),
        Reading::Seldom => (0, Policy::RunnableFifo, &turns.seldom),
    };
    let clock = ManualClock::new();
    let builder = Executor::builder().clock(clock.clone()).poll_cap(cap as u32);
    let ex = builder.host_budget(Duration::from_nanos(budget)).build().unwrap();
    let queues = rng.usize(1..=4);
    let longest_poll = log_uniform(&mut rng, 100, 500_000).max(shortest_poll);
    let (seldom, polls_left) = (rng.u64(1..=100), Cell::new(rng.u64(100..=1_000)));
    let (rng, polls) = (RefCell::new(rng), Cell::new(0));
    let scene = Rc::new(Scene { clock, rng, shortest_poll, longest_poll, seldom, polls_left, polls });
    for index in 0..queues {
        let queue = policy.create(ex.new_queue(&index.to_string())).unwrap();
        for _ in 0..scene.rng.borrow_mut().u32(1..=4) {
            let _detached = queue.spawn(work(Rc::clone(&scene)));
        }
    }
    let bound = budget + longest_poll * reading.polls();
    let mut run = pin!(ex.run_until(ex.drained()));
    let turn = poll_fn(|cx| {
        let began = scene.clock.now();
        scene.polls.set(0);
        let polled = run.as_mut().poll(cx);
        turns.count.set(turns.count.get() + 1);
        longest.note((scene.clock.now() - began).as_nanos() as f64 / bound as f64);
        turns.polls.note(scene.polls.get() as f64 / cap as f64);
        polled
    });
    host.block_on(turn);
}

async fn work(scene: Rc<Scene>) {
    while let Some(left) = scene.polls_left.get().checked_sub(1) {
        scene.polls_left.set(left);
        scene.polls.set(scene.polls.get() + 1);
        scene.clock.advance(Duration::from_nanos(scene.draw_poll()));
        clockworker::yield_now().await;
    }
    // The poll in which it ends.
    scene.polls.set(scene.polls.get() + 1);
}

impl Scene {
    fn draw_poll(&self) -> u64 {
        let mut rng = self.rng.borrow_mut();
        let is_long = rng.u64(..self.seldom) == 0;
        let short = rng.u64(..=self.longest_poll / 50).max(self.shortest_poll);
        if is_long { self.longest_poll } else { short }
    }
}
