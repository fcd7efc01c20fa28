//! Random programs run as on the reference executor, each the same each time, and the same inside every host.

use std::collections::BTreeMap;

use clockworker_testing::host::Host;
use clockworker_testing::programs::{Audit, End, Event, Program, Stage, check};

/// Fails with the smallest program that does, made of the seed's.
fn show_smallest(seed: u64) -> ! {
    let program = Program::shrunk(seed, |program| check(program).is_err());
    let difference = check(&program).unwrap_err();
    panic!("seed {seed}, shrunk:\n{program}{difference}");
}

const PROGRAMS: u64 = 10_000;

/// What kind of event it is, for a count.
fn kind(event: &Event) -> String {
    let text = match event {
        Event::Joined { end: End::Output(_), .. } => "Output".to_owned(),
        Event::Joined { end, .. } => format!("{end:?}"),
        Event::Stopped { idle } => format!("Stopped idle {idle}"),
        Event::Created { free, .. } => format!("Created free {free}"),
        other => format!("{other:?}"),
    };
    text.split(['(', '{']).next().unwrap_or_default().trim().to_owned()
}

#[test]
fn every_program_runs_as_on_the_reference_executor() {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut sum = Audit::default();
    for seed in 0..PROGRAMS {
        let program = Program::from_seed(seed);
        let outcome = check(&program).unwrap_or_else(|_| show_smallest(seed));
        let audit = outcome.audit();
        assert!(audit.is_clean(), "seed {seed}: {audit:?}");
        sum.add(&audit);
        outcome.trace.iter().for_each(|entry| *kinds.entry(kind(&entry.event)).or_default() += 1);
    }
    // The programs do everything there is to do, and often.
    let all = [
        "Spawned",
        "Polled",
        "Finished",
        "FutureDropped",
        "Unmade",
        "OutputDropped",
        "Output",
        "Cancelled",
        "Panicked",
        "Created free true",
        "Created free false",
        "Stopped idle true",
        "Stopped idle false",
    ];
    for kind in all {
        assert!(kinds.get(kind).is_some_and(|&n| n > 300), "{kind}: {kinds:?}");
    }
}

#[test]
fn a_program_has_the_same_schedule_each_time_inside_every_host() {
    let stages: Vec<(Host, Stage)> =
        Host::ALL.iter().map(|&host| (host, Stage::start(host).unwrap())).collect();
    for seed in 0..200 {
        let program = Program::from_seed(seed);
        let (_, alone) = &stages[0];
        let first = alone.run(&program);
        for (host, stage) in &stages {
            assert_eq!(stage.run(&program), first, "seed {seed} inside {host}:\n{program}");
        }
    }
}
