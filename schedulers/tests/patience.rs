//! What policies say of how long a ready task may be passed over.

use std::num::NonZeroU32;

use clockworker_schedulers::{
    ArrivalFifo, DEFAULT_PATIENCE, DEFAULT_PATIENCE_PER_TASK, FairTurns, Las, Qlas, RunnableFifo, Scheduler,
    Serpt,
};

#[test]
fn what_the_documentation_says() {
    assert_eq!((DEFAULT_PATIENCE, DEFAULT_PATIENCE_PER_TASK), (65_536, 2_048));
    assert_eq!(RunnableFifo::new().patience(1_000), Some(65_536 + 2_048_000));
}

/// The bounds on waiting that their documentation gives, with N = 32, and what anybody is given besides.
#[test]
fn the_bound_of_each_policy_is_within_its_patience() {
    for tasks in [1_u64, 10, 1_000] {
        let beyond = |patience: Option<u64>| patience.unwrap() - 65_536;
        let of = usize::try_from(tasks).unwrap();
        assert_eq!(beyond(ArrivalFifo::new().patience(of)), 2 * 32 * tasks);
        assert_eq!(beyond(Las::new().patience(of)), 32 * tasks * tasks);
        assert_eq!(beyond(Qlas::new().patience(of)), 32 * 64 * 64 * tasks);
        assert_eq!(beyond(Serpt::new().patience(of)), 32 * 64 * 64 * (tasks + 1));
    }
}

#[test]
fn rarer_fair_turns_take_more_patience() {
    let rarely = NonZeroU32::new(1_000).unwrap();
    assert_eq!(
        ArrivalFifo::new().with_fair_turns(FairTurns::every(rarely)).patience(3),
        Some(65_536 + 2 * 1_000 * 3)
    );
    assert_eq!(Las::new().with_fair_turns(FairTurns::every(rarely)).patience(3), Some(65_536 + 1_000 * 9));
    assert_eq!(
        Qlas::new().with_fair_turns(FairTurns::every(rarely)).patience(3),
        Some(65_536 + 1_000 * 4_096 * 3)
    );
    assert_eq!(
        Serpt::new().with_fair_turns(FairTurns::every(rarely)).patience(3),
        Some(65_536 + 1_000 * 4_096 * 4)
    );
}

#[test]
fn the_strict_ones_may_starve_for_ever() {
    assert_eq!(ArrivalFifo::new().with_fair_turns(FairTurns::NEVER).patience(3), None);
    assert_eq!(Las::new().with_fair_turns(FairTurns::NEVER).patience(3), None);
    assert_eq!(Qlas::new().with_fair_turns(FairTurns::NEVER).patience(3), None);
    assert_eq!(Serpt::new().with_fair_turns(FairTurns::NEVER).patience(3), None);
}

#[test]
fn no_number_of_tasks_is_too_large() {
    let most = usize::MAX;
    assert_eq!(RunnableFifo::new().patience(most), Some(u64::MAX));
    for patience in [
        ArrivalFifo::new().patience(most),
        Las::new().patience(most),
        Qlas::new().patience(most),
        Serpt::new().patience(most),
    ] {
        assert_eq!(patience, Some(u64::MAX));
    }
}
