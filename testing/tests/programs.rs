//! Random programs, and what must hold of each: see `programs`.

use std::panic::catch_unwind;

use clockworker_testing::host::Host;
use clockworker_testing::policy::Policy;
use clockworker_testing::programs::{
    Actor, Audit, Kind, Program, containment, play, random_bytes, round, run, shrunk,
};
use clockworker_testing::quiet;

/// Plays a program. None if it is not as it must be, be it that a panic was caught.
fn try_play(kind: Kind, bytes: &[u8]) -> Option<Audit> {
    let before = quiet::unmeant();
    let audit = catch_unwind(|| play(kind, bytes)).ok()?;
    (quiet::unmeant() == before).then_some(audit)
}

/// In which a program that fails is made small.
const TRIES: u32 = 400;

/// Plays so many programs of up to so many bytes. One that fails is shown as small as it can be made.
fn play_all(kind: Kind, programs: u64, bytes: usize) -> Audit {
    quiet::install();
    let mut sum = Audit::default();
    for seed in 0..programs {
        let input = random_bytes(seed, bytes);
        match try_play(kind, &input) {
            Some(audit) => sum.add(&audit),
            None => {
                let fewest = shrunk(input, TRIES, |bytes| try_play(kind, bytes).is_none());
                play(kind, &fewest);
                panic!("seed {seed}: a panic that is not meant, in\n{}", Program::new(kind, &fewest));
            }
        }
    }
    sum
}

#[test]
fn every_program_that_the_reference_executor_knows_runs_as_on_that() {
    let sum = play_all(Kind::Compared, 10_000, 300);
    let (kinds, rarest) = sum.events();
    assert!(kinds >= 15 && rarest > 300, "{sum:?}");
}

#[test]
fn every_promise_holds_whatever_is_done() {
    let sum = play_all(Kind::Everything, 800, 10_000);
    // New, parked, arriving and ready tasks are aborted from outside, by the future that is run, and by tasks, on two threads
    // each; one that is being polled by itself on both, woken or not.
    let of_users = |by: &Actor| matches!(by, Actor::Outside | Actor::Main | Actor::Task);
    let kinds = sum.aborts.iter().filter(|(_, by, _)| of_users(by)).count();
    assert_eq!(kinds, 4 * 3 * 2 + 2 * 2, "{:?}", sum.aborts);
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
    for seed in 0..100 {
        let (program, host, threads) = round(seed);
        let play = || run(&program, host, threads).unwrap_or_else(|error| panic!("seed {seed}: {error:#}"));
        let outcome = play();
        let audit = outcome.audit(threads);
        assert!(audit.is_clean(), "seed {seed}: {audit:?}");
        assert_eq!(quiet::unmeant(), 0, "seed {seed}: panics that are not meant");
        sum.add(&audit);
        if threads == 0 {
            assert!(play() == outcome, "seed {seed}");
            repeated += 1;
        }
    }
    assert!(repeated > 0 && sum.tasks > 1_000, "{repeated} repeated, {sum:?}");
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
