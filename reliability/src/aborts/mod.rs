//! Promise 13: an aborted task's future is dropped before any other task of its queue is polled, whoever aborts it and wherever
//! the task is.

mod board;
mod scene;

use std::collections::BTreeMap;

use clap::Args;

use crate::cases::Cases;
use crate::figure::{Figure, at_most, exactly, none, told};
use board::{Origin, Phase, Promptness};

/// Parked, arriving and ready tasks are aborted from five places; new ones from four, as they are not new to tasks any more;
/// one that is being polled by itself or, meanwhile, by another thread.
const KINDS: usize = 3 * 5 + 4 + 2 * 2;

/// Aborts tasks from everywhere, in every phase, and counts what runs before their futures are dropped.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

/// Plays all scenes.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut took = BTreeMap::<(Phase, Origin), Promptness>::new();
    let (mut elsewhere, mut left, mut slowest) = (0, 0, (0, 0));
    options.cases.play(20_000, 600, |seed| {
        let (board, left_here) = scene::play(seed)?;
        let known = board.known();
        left += left_here;
        elsewhere += known.dropped_elsewhere;
        for (&key, new) in &known.took {
            let all = took.entry(key).or_default();
            all.aborts += new.aborts;
            all.polls = all.polls.max(new.polls);
            all.turns = all.turns.max(new.turns);
            slowest = slowest.max((new.polls, seed));
        }
        Ok(())
    })?;
    let most = |of: fn(&Promptness) -> u64| took.values().map(of).max().unwrap_or(0);
    let kinds = "kinds of abort (phase of the task × who aborts)";
    Ok(vec![
        told(13, "aborts", took.values().map(|took| took.aborts).sum::<u64>()),
        match options.cases.cases {
            None => exactly(13, kinds, took.len(), KINDS),
            // Few cases, as to repeat one, do not have every kind.
            Some(_) => told(13, kinds, took.len()),
        },
        told(13, "turns begun between abort and drop, most", most(|took| took.turns)),
        at_most(13, "polls of its queue begun between abort and drop, most", most(|took| took.polls), 1.0),
        told(13, "seed of the slowest", slowest.1),
        none(13, "futures dropped on another thread", elsewhere),
        none(13, "futures not dropped at the end", left),
    ])
}
