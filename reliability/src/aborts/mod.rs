//! Promise 13: an aborted task's future is dropped before any other task of its queue is polled, whoever aborts it and wherever
//! the task is.

mod board;
mod scene;

use std::collections::BTreeSet;

use clap::Args;

use crate::cases::Cases;
use crate::figure::{Figure, at_most, exactly, none, told};

/// Parked, arriving and ready tasks are aborted from five places; new ones from four, as they are not new to tasks any more;
/// one that is being polled by itself or, meanwhile, by another thread.
const KINDS: usize = 3 * 5 + 4 + 2 * 2;

/// Aborts tasks from everywhere, in every phase, and counts what runs before their futures are dropped.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    cases: Cases,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let (mut aborts, mut kinds, mut turns, mut slowest) = (0, BTreeSet::new(), 0, (0, 0));
    let (mut elsewhere, mut left) = (0, 0);
    options.cases.play(20_000, 600, |seed| {
        let (board, left_here) = scene::play(seed)?;
        let known = board.known();
        left += left_here;
        elsewhere += known.dropped_elsewhere;
        aborts += known.aborts.len();
        for abort in &known.aborts {
            kinds.insert(abort.kind);
            turns = turns.max(abort.turns);
            slowest = slowest.max((abort.polls, seed));
        }
        Ok(())
    })?;
    let what = "kinds of abort (phase of the task × who aborts)";
    Ok(vec![
        told(13, "aborts", aborts),
        match options.cases.cases {
            None => exactly(13, what, kinds.len(), KINDS),
            // Few cases, as to repeat one, do not have every kind.
            Some(_) => told(13, what, kinds.len()),
        },
        told(13, "turns begun between abort and drop, most", turns),
        at_most(13, "polls of its queue begun between abort and drop, most", slowest.0, 1.0),
        told(13, "seed of the slowest", slowest.1),
        none(13, "futures dropped on another thread", elsewhere),
        none(13, "futures not dropped at the end", left),
    ])
}
