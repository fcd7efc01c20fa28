//! Everything at once: random rounds of tasks, threads, panics, hostile schedulers and shutdowns, of which nothing is left.
//!
//! A round is a random program of `clockworker_testing::programs`, in any host, beside free threads. One without threads is played
//! twice, and is the same both times. One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clockworker::{Cap, Executor, yield_now};
use clockworker_testing::effort::{each_seed, seed};
use clockworker_testing::host::Host;
use clockworker_testing::memory::{Allocated, COUNTING, Counting};
use clockworker_testing::panics;
use clockworker_testing::programs::{Audit, round, run};
use clockworker_testing::watchdog::{Pulse, watch};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

/// Rounds before memory is compared: all that is made once has been made then.
const WARM_UP: u64 = 300;

/// How often the rounds are played at most. What threads of others keep once, such as a waker that has just been woken, is not
/// lost again when the rounds are played again. What the rounds lose is.
const PLAYS: usize = 3;

#[test]
fn whatever_happens_at_once_all_accounts_balance_and_nothing_is_left() {
    panics::install();
    play_all(|case| (1..=WARM_UP).for_each(case));
    let left_by_hosts = left_by_hosts();
    let_the_alarm_wake_hosts();
    let mut losses = [(0, 0); PLAYS];
    for loss in &mut losses {
        let before = Allocated::now();
        let counts = play_all(|case| each_seed(100, 50_000, case)).checked();
        let lost = Allocated::now() - before - left_by_hosts;
        *loss = (lost.bytes, lost.pieces);
        // One round alone does not use every host.
        if *loss == (0, 0) || seed().is_some() {
            // Last, as what is printed is kept until the test has ended.
            let [rounds, repeated, tasks, polls] = counts;
            println!("{rounds} rounds, {repeated} of them twice: {tasks} tasks with {polls} polls");
            return;
        }
    }
    panic!("bytes and allocations lost, each time: {losses:?}");
}

/// What a thread that has used all hosts leaves behind, without any of the executor's tasks: 24 bytes of monoio 0.2.4.
fn left_by_hosts() -> Allocated {
    let before = Allocated::now();
    let nothing = || Host::ALL.iter().for_each(|host| host.run(&Executor::new(), async {}));
    thread::spawn(nothing).join().unwrap();
    Allocated::now() - before
}

/// Has the alarm of caps wake each host: its thread stays, and monoio 0.2.4 makes a queue of 32 KiB for a thread that wakes one
/// of its tasks.
fn let_the_alarm_wake_hosts() {
    let cap = Cap::new(Duration::from_micros(1), Duration::from_millis(1)).unwrap();
    let throttled = move || {
        for host in Host::ALL {
            let ex = Executor::new();
            let queue = ex.new_queue("capped").cap(cap).create().unwrap();
            let computes = queue.spawn(async {
                for _ in 0..3 {
                    (0..10_000).for_each(|i| _ = black_box(i));
                    yield_now().await;
                }
            });
            host.run(&ex, computes).unwrap();
            assert!(queue.stats().throttled_periods > 0, "{host:?}");
        }
    };
    thread::spawn(throttled).join().unwrap();
}

/// Plays rounds on another thread, watched. That thread is gone when it returns, and what it allocated.
fn play_all(rounds: fn(&mut dyn FnMut(u64))) -> Total {
    let play = move |pulse: &Arc<Pulse>| {
        let mut total = Total::default();
        rounds(&mut |seed| {
            total.play(seed);
            pulse.beat(1);
        });
        total
    };
    watch(play, |rounds| format!("after {rounds} rounds, of seeds from 1 on"))
}

#[derive(Default)]
struct Total {
    rounds: u64,
    repeated: u64,
    sum: Audit,
}

impl Total {
    fn play(&mut self, seed: u64) {
        let (program, host, threads) = round(seed);
        let play = || run(&program, host, threads);
        let outcome = play();
        let audit = outcome.audit(threads);
        assert!(audit.is_clean(), "{audit:?}");
        assert_eq!(panics::unmeant(), 0, "panics that are not meant");
        if threads == 0 {
            assert!(play() == outcome, "played again it differs");
            self.repeated += 1;
        }
        self.sum.add(&audit);
        self.rounds += 1;
    }

    /// Rounds, rounds played twice, tasks and polls.
    fn checked(self) -> [u64; 4] {
        let Self { rounds, repeated, sum } = self;
        assert!(repeated > 0 && sum.tasks > 10 * rounds || seed().is_some(), "{sum:?}");
        [rounds, repeated, sum.tasks, sum.polls]
    }
}
