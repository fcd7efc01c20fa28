//! Everything at once: random rounds of tasks, threads, panics, hostile schedulers and shutdowns, of which nothing is left.
//!
//! A round is a random program of `clockworker_testing::programs`, in any host, beside free threads. One without threads is played
//! twice, and is the same both times. One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::sync::Arc;

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

/// How often the rounds are played at most. A waker that another thread has just woken, and is about to drop, is not there again
/// when the rounds are played again. What the rounds lose is.
const PLAYS: usize = 3;

/// Pieces that monoio 0.2.4 may leave, however many rounds there were: a thread that wakes one of its tasks keeps a queue for the
/// thread that is woken, with the wakes in it that came too late.
const LEFT_BY_MONOIO: i64 = 16;

#[test]
fn whatever_happens_at_once_all_accounts_balance_and_nothing_is_left() {
    panics::install();
    play(|_| true, |case| (1..=WARM_UP).for_each(case));
    let (monoio, lost) = weigh(is_monoio);
    assert!(lost.pieces <= LEFT_BY_MONOIO, "inside monoio: {lost:?}");
    let mut losses = Vec::new();
    let others = loop {
        let (counts, lost) = weigh(|host| !is_monoio(host));
        if (lost.bytes, lost.pieces) == (0, 0) {
            break counts;
        }
        losses.push((lost.bytes, lost.pieces));
        assert!(losses.len() < PLAYS, "bytes and allocations lost, each time: {losses:?}");
    };
    // Last, as what is printed is kept until the test has ended.
    let [rounds, repeated, tasks, polls] = [0, 1, 2, 3].map(|i| monoio[i] + others[i]);
    assert!(repeated > 0 && tasks > 10 * rounds || seed().is_some(), "{tasks} tasks");
    println!("{rounds} rounds, {repeated} of them twice: {tasks} tasks with {polls} polls");
}

fn is_monoio(host: Host) -> bool {
    // By its name, as there is no such host elsewhere than on Linux.
    format!("{host:?}") == "Monoio"
}

/// Plays the rounds in these hosts: rounds, rounds played twice, tasks and polls; and what memory they take that stays.
fn weigh(hosts: fn(Host) -> bool) -> ([u64; 4], Allocated) {
    let before = Allocated::now();
    let counts = play(hosts, |case| each_seed(100, 50_000, case));
    (counts, Allocated::now() - before)
}

/// Plays those of the rounds that are in these hosts, on another thread, watched. That thread is gone when it returns, and what
/// it allocated.
fn play(hosts: fn(Host) -> bool, rounds: fn(&mut dyn FnMut(u64))) -> [u64; 4] {
    let play = move |pulse: &Arc<Pulse>| {
        let mut total = Total::default();
        rounds(&mut |seed| {
            total.play(seed, hosts);
            pulse.beat(1);
        });
        let Total { rounds, repeated, sum } = total;
        [rounds, repeated, sum.tasks, sum.polls]
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
    fn play(&mut self, seed: u64, hosts: fn(Host) -> bool) {
        let (program, host, threads) = round(seed);
        if !hosts(host) {
            return;
        }
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
}
