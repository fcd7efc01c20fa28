//! Rounds of everything at once: tasks and threads that spawn, wake, abort, panic, wait and await by lot, hostile schedulers, and
//! every way to end an executor. The books balance, and what no other thread takes part in is the same again.

use std::sync::Arc;

use clockworker_testing::soak::{Ledger, Round, Summary, Tally};

fn play(round: Round, total: &Ledger) -> Summary {
    let ledger = Arc::default();
    let summary = round.play(&ledger).unwrap_or_else(|error| panic!("{round:?}: {error:#}"));
    total.add_all(&ledger);
    summary
}

#[test]
fn some_rounds_balance_and_repeat() {
    let (total, mut repeated) = (Ledger::default(), 0);
    for number in 0..40 {
        let round = Round::of(7, number);
        let summary = play(round, &total);
        if round.threads == 0 {
            assert_eq!(play(round, &total), summary, "{round:?}");
            repeated += 1;
        }
    }
    let [spawned, ended @ ..] = total.tasks();
    assert_eq!(spawned, ended.iter().sum::<u64>());
    let some = [Tally::Panicked, Tally::JoinedElsewhere, Tally::HostileQueues].map(|of| total.get(of));
    assert!(repeated > 0 && some.iter().all(|&count| count > 0), "{repeated} repeated, {total:?}");
}
