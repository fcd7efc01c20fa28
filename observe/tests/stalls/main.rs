//! Polls that take too long are reported while they run.
//!
//! No verdict here depends on how fast the machine is: a poll that is to be reported goes on until it was, and one that is not to
//! be has a threshold of hours, or measures how long it really took.

#![allow(missing_docs, reason = "tests")]

mod ends;
mod misuse;
mod reports;
#[cfg(target_os = "linux")]
mod threads;

#[path = "../../../clockworker/tests/support/mod.rs"]
mod support;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use clockworker::{Executor, Id};
use clockworker_observe::PollKind;
use clockworker_observe::stalls::{Stall, StallDetector, StallGuard};

/// Longer than any machine takes.
const PATIENCE: Duration = Duration::from_secs(100);

const MS: Duration = Duration::from_millis(1);

const HOURS: Duration = Duration::from_secs(3 * 60 * 60);

/// Tells of each stall of so long, however many there are.
fn detector(threshold: Duration, sender: &Sender<Stall>) -> StallDetector {
    let sender = sender.clone();
    let detector = StallDetector::new(threshold).rate_limit(usize::MAX, HOURS);
    detector.on_stall(move |stall| drop(sender.send(stall.clone())))
}

/// Watches an executor, and tells of each stall of so long.
fn watch(ex: &Executor, threshold: Duration) -> (StallGuard, Receiver<Stall>) {
    let (sender, reports) = channel();
    (detector(threshold, &sender).watch(ex).unwrap(), reports)
}

/// An executor that is watched.
fn watched(threshold: Duration) -> (Executor, StallGuard, Receiver<Stall>) {
    let ex = Executor::new();
    let (guard, reports) = watch(&ex, threshold);
    (ex, guard, reports)
}

/// What a task must not do: keeps its thread until its own stall was reported. On a slow machine those of other polls may come
/// before.
#[track_caller]
fn guilty(kind: PollKind, reports: &Receiver<Stall>) -> Stall {
    loop {
        match reports.recv_timeout(PATIENCE) {
            Ok(stall) if (stall.holder.kind, stall.holder.task) == (kind, Id::current()) => return stall,
            Ok(_) => {}
            Err(error) => panic!("nothing was reported: {error}"),
        }
    }
}

/// [`guilty`] in the future given to `run_until`.
#[track_caller]
fn guilty_main(ex: &Executor, reports: &Receiver<Stall>) -> Stall {
    ex.block_on(async { guilty(PollKind::Main, reports) })
}
