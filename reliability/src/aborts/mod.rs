//! Promise 13: an aborted task's future is dropped before any other task of its queue is polled, whoever aborts it and wherever
//! the task is.

mod board;
mod scene;

use std::collections::BTreeMap;

use clap::Args;

use crate::cases::Cases;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::progress;
use board::{Origin, Phase, Promptness};

/// Parked, arriving and ready tasks are aborted from five places; new ones from four, as they are not new to tasks any more;
/// one that is being polled by itself or, meanwhile, by another thread.
const KINDS: f64 = (3 * 5 + 4 + 2 * 2) as f64;

/// Aborts tasks from everywhere, in every phase, and counts what runs before their futures are dropped.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

impl Options {
    /// The quick form.
    pub fn quick() -> Self {
        Options { cases: Cases::quick() }
    }
}

/// Plays all scenes.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let seeds = options.cases.seeds(20_000, 600);
    let bar = progress::bar(seeds.end - seeds.start);
    let mut took = BTreeMap::<(Phase, Origin), Promptness>::new();
    let (mut elsewhere, mut left, mut slowest) = (0, 0, (0, 0));
    for seed in seeds {
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
        bar.inc(1);
    }
    bar.finish_and_clear();
    // Few cases, as to repeat one, do not have every kind.
    let kinds = options.cases.cases.is_none().then_some(Bound::Exactly(KINDS));
    Ok(figures(&took, kinds, (elsewhere, left), slowest.1))
}

fn figures(
    took: &BTreeMap<(Phase, Origin), Promptness>,
    kinds: Option<Bound>,
    (elsewhere, left): (u64, u64),
    slowest: u64,
) -> Vec<Figure> {
    let most = |of: fn(&Promptness) -> u64| took.values().map(of).max().unwrap_or(0) as f64;
    let aborts: u64 = took.values().map(|took| took.aborts).sum();
    vec![
        Figure::told(13, "aborts", aborts as f64),
        Figure {
            bound: kinds,
            ..Figure::told(13, "kinds of abort (phase of the task × who aborts)", took.len() as f64)
        },
        Figure::told(13, "turns begun between abort and drop, most", most(|took| took.turns)),
        Figure::held(
            13,
            "polls of its queue begun between abort and drop, most",
            most(|took| took.polls),
            Bound::AtMost(1.0),
        ),
        Figure::told(13, "seed of the slowest", slowest as f64),
        Figure::held(13, "futures dropped on another thread", elsewhere as f64, Bound::Exactly(0.0)),
        Figure::held(13, "futures not dropped at the end", left as f64, Bound::Exactly(0.0)),
    ]
}
