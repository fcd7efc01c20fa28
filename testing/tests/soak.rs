//! Everything at once: random rounds of tasks, threads, panics, hostile schedulers and shutdowns, of which nothing is left.
//!
//! `clockworker_testing::soak` has the rounds, which count for themselves. One without threads is played twice, and is the same
//! both times. One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clockworker::Executor;
use clockworker_testing::effort::{each_seed, seed};
use clockworker_testing::host::Host;
use clockworker_testing::memory::{Allocated, COUNTING, Counting};
use clockworker_testing::pulse::Pulse;
use clockworker_testing::soak::{Ledger, Round, Summary, Tally};
use clockworker_testing::watchdog::{PATIENCE, watch};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

/// Rounds before memory is compared: all that is made once has been made then.
const WARM_UP: u64 = 300;

#[test]
fn whatever_happens_at_once_all_accounts_balance_and_nothing_is_left() {
    play_all(|case| (1..=WARM_UP).for_each(case));
    let left_by_hosts = left_by_hosts();
    let before = Allocated::now();
    let total = play_all(|case| each_seed(100, 50_000, case));
    let lost = Allocated::now() - before - left_by_hosts;
    assert_eq!((lost.bytes, lost.pieces), (0, 0), "lost in {} rounds", total.rounds);
    total.check();
}

/// What a thread that has used all hosts leaves behind, without any of the executor's tasks: 24 bytes of monoio 0.2.4.
fn left_by_hosts() -> Allocated {
    let before = Allocated::now();
    let nothing = || Host::ALL.iter().for_each(|host| host.run(&Executor::new(), async {}).unwrap());
    thread::spawn(nothing).join().unwrap();
    Allocated::now() - before
}

/// Plays rounds on another thread, watched. That thread is gone when it returns, and what it allocated.
fn play_all(rounds: fn(&mut dyn FnMut(u64))) -> Total {
    let at = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&at);
    let play = move |pulse: &Arc<Pulse>| {
        let mut total = Total::default();
        rounds(&mut |seed| {
            shown.store(seed, Ordering::Relaxed);
            total.play(seed);
            pulse.beat(1);
        });
        total
    };
    watch(PATIENCE, play, |_| format!("the round of seed {at:?}"))
}

#[derive(Default)]
struct Total {
    rounds: u64,
    repeated: u64,
    ledger: Ledger,
}

impl Total {
    fn play(&mut self, seed: u64) {
        let round = Round::of(seed, 0);
        let summary = play(round, &self.ledger);
        if round.threads == 0 {
            assert_eq!(play(round, &self.ledger), summary, "played again it differs: {round:?}");
            self.repeated += 1;
        }
        self.rounds += 1;
    }

    fn check(&self) {
        let (ledger, [spawned, ended @ ..]) = (&self.ledger, self.ledger.tasks());
        println!("{} rounds, {} of them twice", self.rounds, self.repeated);
        println!("{spawned} tasks spawned: {ended:?} completed, cancelled and panicked");
        println!("{} waits that one wake ended", ledger.get(Tally::WaitsOver));
        assert_eq!(spawned, ended.iter().sum::<u64>(), "other tasks ended than were spawned");
        assert_eq!(ledger.get(Tally::Waits), ledger.get(Tally::WaitsOver), "lost wakes");
        let some = [Tally::Panicked, Tally::JoinedElsewhere, Tally::HostileQueues, Tally::PollsDropped];
        assert!(some.iter().all(|&of| ledger.get(of) > 0) || seed().is_some(), "{ledger:?}");
    }
}

fn play(round: Round, total: &Ledger) -> Summary {
    let ledger = Arc::default();
    let summary = round.play(&ledger).unwrap_or_else(|error| panic!("{round:?}: {error:#}"));
    total.add_all(&ledger);
    summary
}
