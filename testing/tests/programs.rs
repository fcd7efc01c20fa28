//! Promises 3, 4, 11, 13 and 15 on random programs, which `clockworker_testing::programs` has: futures are touched and dropped on
//! their owner's thread, everything is dropped once, a panic stays where it belongs, an aborted task is dropped before
//! another of its queue is polled, and a seed has one schedule.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::panic::catch_unwind;

use clockworker_testing::effort::{each_seed, is_long, seed};
use clockworker_testing::host::Host;
use clockworker_testing::panics;
use clockworker_testing::policy::Policy;
use clockworker_testing::programs::{
    Actor, Audit, Kind, Program, containment, play, random_bytes, run, shrunk,
};

/// Plays a program. None if it is not as it must be, be it that a panic was caught.
fn try_play(kind: Kind, bytes: &[u8]) -> Option<Audit> {
    let before = panics::unmeant();
    let audit = catch_unwind(|| play(kind, bytes)).ok()?;
    (panics::unmeant() == before).then_some(audit)
}

/// In which a program that fails is made small.
const TRIES: u32 = 400;

/// Plays so many programs, or with `LONG=1` so many, of up to so many bytes. One that fails is shown as small as it can be made.
fn play_all(kind: Kind, (short, long): (u64, u64), bytes: usize) -> Audit {
    panics::install();
    let mut sum = Audit::default();
    each_seed(short, long, |seed| {
        let input = random_bytes(seed, bytes);
        match try_play(kind, &input) {
            Some(audit) => sum.add(&audit),
            None => {
                let fewest = shrunk(input, TRIES, |bytes| try_play(kind, bytes).is_none());
                play(kind, &fewest);
                panic!("a panic that is not meant");
            }
        }
    });
    println!("{} tasks with {} polls, {} moved", sum.tasks, sum.polls, sum.moves);
    sum
}

#[test]
fn every_program_that_the_reference_executor_knows_runs_as_on_that() {
    let sum = play_all(Kind::Compared, (10_000, 1_000_000), 300);
    let (kinds, rarest) = sum.events();
    assert!(kinds >= 15 && rarest > 300 || seed().is_some(), "{sum:?}");
}

#[test]
fn every_promise_holds_whatever_is_done() {
    let sum = play_all(Kind::Everything, (800, 50_000), 10_000);
    // New, parked, arriving and ready tasks are aborted from outside, by the future that is run, and by tasks, on two threads
    // each; one that is being polled by itself on both, woken or not.
    let of_users = |by: &Actor| matches!(by, Actor::Outside | Actor::Main | Actor::Task);
    let kinds = sum.aborts.iter().filter(|(_, by, _)| of_users(by)).count();
    assert!(kinds == 4 * 3 * 2 + 2 * 2 || seed().is_some(), "{:?}", sum.aborts);
    assert!(sum.moves > 200 || seed().is_some(), "{} tasks moved", sum.moves);
}

#[test]
fn every_promise_holds_beside_a_hostile_scheduler() {
    play_all(Kind::Hostile, (5_000, 500_000), 600);
}

#[test]
fn a_program_has_the_same_schedule_each_time_inside_every_host() {
    each_seed(100, 10_000, |seed| {
        for kind in [Kind::Compared, Kind::Everything] {
            let program = Program::new(kind, &random_bytes(seed, 1_000));
            let first = run(&program, Host::Alone, 0);
            for &host in Host::ALL {
                assert!(run(&program, host, 0) == first, "inside {host:?}:\n{program}");
            }
        }
    });
}

#[test]
fn a_panic_stays_where_it_belongs() {
    let cases = containment::all(if is_long() { Policy::ALL } else { &Policy::ALL[..2] });
    let mut struck = 0;
    for case in &cases {
        struck += usize::from(case.play());
    }
    println!("{struck} panics in {} cases", cases.len());
    // Not each case gets as far as its panic, and not each panic is a task's.
    assert!(struck > cases.len() / 8, "{struck} panics in {} cases", cases.len());
}
