//! Promise 13: an aborted task's future is dropped before any other task of its queue is polled: from the owner, from tasks and
//! from other threads, wherever the task is.
//!
//! `testing::aborts` has the scenes.

use std::collections::BTreeSet;

use clockworker_testing::aborts::{KINDS, play};

pub(crate) use crate::cases::Cases as Options;
use crate::figure::{Figure, at_most, exactly, none, told};

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let (mut aborts, mut kinds, mut turns, mut slowest) = (0, BTreeSet::new(), 0, (0, 0));
    let (mut elsewhere, mut left) = (0, 0);
    options.play(20_000, 600, |seed| {
        let played = play(seed)?;
        left += played.left;
        elsewhere += played.dropped_elsewhere;
        aborts += played.aborts.len();
        for abort in &played.aborts {
            kinds.insert(abort.kind);
            turns = turns.max(abort.turns);
            slowest = slowest.max((abort.polls, seed));
        }
        Ok(())
    })?;
    let what = "kinds of abort (phase of the task × who aborts)";
    Ok(vec![
        told(13, "aborts", aborts),
        match options.cases {
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
