//! Random programs, and what must hold of each: see `programs`.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use clockworker_testing::aborts;
use clockworker_testing::host::Host;
use clockworker_testing::policy::Policy;
use clockworker_testing::programs::{Audit, Kind, Program, containment, play, random_bytes, run, shrunk};
use clockworker_testing::quiet;
use clockworker_testing::soak::Round;

/// Plays a program. None if it is not as it must be, be it that a panic was caught.
fn try_play(kind: Kind, bytes: &[u8]) -> Option<Audit> {
    let before = quiet::unmeant();
    let audit = catch_unwind(|| play(kind, bytes)).ok()?;
    (quiet::unmeant() == before).then_some(audit)
}

/// Plays so many programs of up to so many bytes. One that fails is shown as small as it can be made.
fn play_all(kind: Kind, programs: u64, bytes: usize) -> Audit {
    quiet::install();
    let mut sum = Audit::default();
    for seed in 0..programs {
        let input = random_bytes(seed, bytes);
        match try_play(kind, &input) {
            Some(audit) => sum.add(&audit),
            None => {
                let fewest = shrunk(input, |bytes| try_play(kind, bytes).is_none());
                play(kind, &fewest);
                panic!("seed {seed}: a panic that is not meant, in\n{}", Program::new(kind, &fewest));
            }
        }
    }
    sum
}

#[test]
fn every_program_that_the_reference_executor_knows_runs_as_on_that() {
    play_all(Kind::Compared, 10_000, 300);
}

#[test]
fn every_promise_holds_whatever_is_done() {
    play_all(Kind::Everything, 1_000, 6_000);
}

#[test]
fn every_promise_holds_beside_a_hostile_scheduler() {
    play_all(Kind::Hostile, 5_000, 600);
}

#[test]
fn a_program_has_the_same_schedule_each_time_inside_every_host() {
    for (kind, seed) in
        [Kind::Compared, Kind::Everything].into_iter().flat_map(|kind| (0..100).map(move |seed| (kind, seed)))
    {
        let program = Program::new(kind, &random_bytes(seed, 1_000));
        let first = run(&program, Host::Alone, 0).unwrap();
        for &host in Host::ALL {
            assert!(run(&program, host, 0).unwrap() == first, "seed {seed} inside {host}:\n{program}");
        }
    }
}

#[test]
fn rounds_beside_free_threads_balance_and_others_repeat() {
    quiet::install();
    let (mut sum, mut repeated) = (Audit::default(), 0);
    for number in 0..100 {
        let round = Round::of(7, number);
        let (outcome, audit) = round.play().unwrap_or_else(|error| panic!("{number}, {round}: {error:#}"));
        if round.threads == 0 {
            assert!(round.play().unwrap().0 == outcome, "{number}, {round}");
            repeated += 1;
        }
        sum.add(&audit);
        assert_eq!(quiet::unmeant(), 0, "{number}, {round}: panics that are not meant");
    }
    assert!(repeated > 0 && sum.tasks > 1_000 && sum.is_clean(), "{repeated} repeated, {sum:?}");
}

#[test]
fn an_aborted_task_is_dropped_before_any_other_of_its_queue_is_polled() {
    let mut kinds = BTreeSet::new();
    for seed in 0..200 {
        kinds.extend(aborts::play(seed).unwrap_or_else(|error| panic!("seed {seed}: {error:#}")));
    }
    assert_eq!(kinds.len(), aborts::KINDS, "{kinds:?}");
}

#[test]
fn a_panic_stays_where_it_belongs() {
    let cases = containment::all(Policy::ALL);
    let mut struck = 0;
    for case in &cases {
        struck += usize::from(case.play().unwrap_or_else(|error| panic!("{case:?}: {error:#}")));
    }
    // Not each case gets as far as its panic, and not each panic is a task's.
    assert!(struck > cases.len() / 8, "{struck} panics in {} cases", cases.len());
}
