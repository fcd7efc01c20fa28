//! Promises 3 and 4: futures are touched and dropped on their owner's thread only, and everything is dropped once. Promise 15:
//! the same seed gives the same schedule.
//!
//! `clockworker_testing::programs` has the random programs, and the reference executor that they run beside.

use clockworker_testing::effort::each_seed;
use clockworker_testing::host::Host;
use clockworker_testing::programs::{Audit, Program, Stage, check};

/// Bytes of a program whose schedule is compared: some hundred polls.
const BYTES: usize = 1_000;

#[test]
fn random_programs_run_as_on_the_reference_executor() {
    let mut sum = Audit::default();
    each_seed(2_000, 1_000_000, |seed| {
        let checked = check(&Program::from_seed(seed));
        let outcome = checked.unwrap_or_else(|_| {
            let smallest = Program::shrunk(seed, |program| check(program).is_err());
            panic!("{smallest}{}", check(&smallest).unwrap_err());
        });
        let audit = outcome.audit();
        assert!(audit.is_clean(), "{audit:?}");
        sum.add(&audit);
    });
    println!("{} tasks with {} polls", sum.tasks, sum.polls);
}

#[test]
fn a_program_has_the_same_schedule_each_time_inside_every_host() {
    let stages: Vec<(Host, Stage)> =
        Host::ALL.iter().map(|&host| (host, Stage::start(host).unwrap())).collect();
    let mut events = 0;
    each_seed(100, 10_000, |seed| {
        let program = Program::of_length(seed, BYTES);
        let first = stages[0].1.run(&program);
        for (host, stage) in &stages {
            let again = stage.run(&program);
            assert!(again == first, "another schedule inside {host}:\n{program}");
            events += again.trace.len();
        }
    });
    println!("{events} events in {} hosts", stages.len());
}
