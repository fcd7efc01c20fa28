//! Promises 1, 3, 4, 10 to 13 together, for a long time: programs that do everything at once, and exact books.
//!
//! `testing::soak` has the rounds. One without threads is played twice, and must be the same both times.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use clockworker::Executor;
use clockworker_testing::host::Host;
use clockworker_testing::memory::{Allocated, Resident};
use clockworker_testing::soak::{Ledger, Round, Tally};

use crate::cases::bar;
use crate::figure::{Figure, none, told};
use crate::growth::growth;
use crate::watchdog::{Patience, Pulse};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// For how long.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// 30 seconds.
    #[arg(long, conflicts_with = "seconds")]
    quick: bool,
    /// What the rounds are made of.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Plays the round of this number, and no other.
    #[arg(long, value_name = "ROUND")]
    only: Option<u64>,
    #[command(flatten)]
    patience: Patience,
}

/// Rounds before memory is compared: all that is made once has been made then.
const WARM_UP: u64 = 300;
/// What resident memory may grow by in KiB, last third of the run over first: the allocator's own affairs.
const SLACK_KIB: f64 = 4_096.0;

#[derive(Debug, Default)]
struct Total {
    rounds: u64,
    repeated: u64,
    polls: u64,
    queues: u64,
    faults: u64,
    ledger: Ledger,
    resident: Resident,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    seed: u64,
    first: u64,
    rounds: Option<u64>,
    time: Duration,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let time = Duration::from_secs(if options.quick { 30 } else { options.seconds });
    let plan = Plan { seed: options.seed, first: 0, rounds: None, time };
    if let Some(round) = options.only {
        let total = play(Plan { first: round, rounds: Some(1), ..plan }, options.patience)?;
        return Ok(figures(options, &total));
    }
    let warm_up = play(Plan { rounds: Some(WARM_UP), ..plan }, options.patience)?;
    let owed = left_by_hosts()?;
    let before = Allocated::now();
    let total = play(Plan { first: warm_up.rounds, ..plan }, options.patience)?;
    let lost = Allocated::now() - before - owed;
    let mut figures = figures(options, &total);
    figures.extend([
        none(10, "bytes lost since the warm-up", lost.bytes),
        none(10, "allocations lost since the warm-up", lost.pieces),
    ]);
    figures.extend(growth(total.resident, SLACK_KIB));
    Ok(figures)
}

/// What a thread that has used all hosts leaves behind, without any of the executor's tasks: 24 bytes of monoio 0.2.4.
fn left_by_hosts() -> anyhow::Result<Allocated> {
    let before = Allocated::now();
    let nothing = || Host::ALL.iter().try_for_each(|host| host.run(&Executor::new(), async {}));
    thread::spawn(nothing).join().ok().context("a host panicked without having anything to do")??;
    Ok(Allocated::now() - before)
}

/// Plays rounds on another thread, watched. That thread and the bar are gone when it returns, and what they allocated.
fn play(plan: Plan, patience: Patience) -> anyhow::Result<Total> {
    let bar = bar(plan.time.as_millis() as u64);
    let started = now();
    let look = |_| bar.set_position(started.elapsed().as_millis().min(plan.time.as_millis()) as u64);
    let played = Arc::new(Pulse::default());
    let shown = Arc::clone(&played);
    let work = move |pulse| play_rounds(plan, &pulse, &played);
    let total = patience.watch(look, work, |_| plan.names(shown.count()));
    bar.finish_and_clear();
    total
}

impl Plan {
    /// The round that comes when so many were played.
    fn round(self, played: u64) -> Round {
        Round::of(self.seed, self.first + played)
    }

    /// What is needed to play a round again, when so many were played before.
    fn names(self, played: u64) -> String {
        let (seed, number) = (self.seed, self.first + played);
        let round = self.round(played);
        format!("round {number} of seed {seed} ({round:?}); again: --seed {seed} --only {number}")
    }
}

fn play_rounds(plan: Plan, pulse: &Arc<Pulse>, played: &Pulse) -> anyhow::Result<Total> {
    let mut total = Total::default();
    let started = now();
    while plan.rounds.map_or(started.elapsed() < plan.time, |rounds| total.rounds < rounds) {
        total.play(plan.round(total.rounds), pulse).with_context(|| plan.names(total.rounds))?;
        played.beat(1);
        total.resident.sample(started.elapsed().as_secs_f64() / plan.time.as_secs_f64());
    }
    Ok(total)
}

#[allow(clippy::disallowed_methods, reason = "how long it runs is an option")]
fn now() -> Instant {
    Instant::now()
}

impl Total {
    fn play(&mut self, round: Round, pulse: &Arc<Pulse>) -> anyhow::Result<()> {
        let play = || {
            let ledger = Arc::new(Ledger::watched(pulse));
            let summary = round.play(&ledger)?;
            anyhow::Ok((summary, Arc::into_inner(ledger).context("something still holds the ledger")?))
        };
        let (summary, ledger) = play()?;
        if round.threads == 0 {
            let (again, _) = play()?;
            ensure!(again == summary, "played again it differs: {summary:?}, then {again:?}");
            self.repeated += 1;
        }
        self.rounds += 1;
        self.polls += summary.polls;
        self.queues += summary.queues;
        self.faults += summary.faults;
        self.ledger.add_all(&ledger);
        Ok(())
    }
}

fn figures(options: &Options, total: &Total) -> Vec<Figure> {
    let (count, [spawned, ended @ ..]) = (|of| total.ledger.get(of), total.ledger.tasks());
    vec![
        told(4, "seed", options.seed),
        told(4, "rounds, an executor each", total.rounds),
        told(15, "rounds without threads, played twice and the same", total.repeated),
        told(4, "tasks spawned", spawned),
        told(4, "completed", count(Tally::Completed)),
        told(4, "cancelled", count(Tally::Cancelled)),
        told(11, "panicked, in poll or drop", count(Tally::Panicked)),
        told(4, "refused", count(Tally::Refused)),
        told(4, "polls", total.polls),
        told(4, "queues", total.queues),
        told(14, "queues with a hostile scheduler", count(Tally::HostileQueues)),
        told(14, "of them reported", total.faults),
        told(12, "polls of runs that were dropped midway", count(Tally::PollsDropped)),
        told(4, "join handles resolved", count(Tally::HandlesResolved)),
        told(4, "of them on another thread", count(Tally::JoinedElsewhere)),
        told(1, "waits that one wake is to end", count(Tally::Waits)),
        // A wait that does not end, and books that do not balance, end the program before this.
        none(1, "wakes lost: waits that did not end", count(Tally::Waits).abs_diff(count(Tally::WaitsOver))),
        none(4, "spawned less completed, cancelled and panicked", spawned.abs_diff(ended.iter().sum())),
    ]
}
