//! Woken tasks come to their policy before those that become ready after them.

use clockworker::schedulers::RunnableFifo;
use clockworker::{Executor, spawn_local};

use crate::support::*;

fn in_order_of_readiness() -> Executor {
    hosted_builder().scheduler(RunnableFifo::new()).build().unwrap()
}

/// Spawns a task that waits for the signal it gives, and then notes that.
fn spawn_waiting(ex: &Executor) -> Signal {
    let signal = Signal::new();
    let waited = signal.clone();
    ex.spawn(async move {
        waited.wait().await;
        note("woken");
    });
    signal
}

#[test]
fn a_woken_task_comes_before_one_that_yields_later() {
    let ex = in_order_of_readiness();
    let woken = spawn_waiting(&ex);
    tick(&ex);
    ex.spawn(async move { woken.set() });
    ex.spawn(polls("a", 2, us(0)));
    ex.spawn(polls("b", 2, us(0)));
    tick(&ex);
    assert_eq!(trace(), "a1 b1 woken a2 b2");
}

#[test]
fn a_woken_task_comes_before_one_that_is_spawned_later() {
    let ex = in_order_of_readiness();
    let woken = spawn_waiting(&ex);
    tick(&ex);
    ex.spawn(async move { woken.set() });
    ex.spawn(async { drop(spawn_local(async { note("spawned") })) });
    ex.spawn(async {});
    tick(&ex);
    assert_eq!(trace(), "woken spawned");
}
