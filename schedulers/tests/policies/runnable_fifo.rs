//! `RunnableFifo`: the order of becoming ready, whatever the reason.

use clockworker_schedulers::{Ready, RunnableFifo, Scheduler};

use super::script::{drain, spawn, task};

#[test]
fn pops_in_the_order_of_becoming_ready() {
    let mut fifo = RunnableFifo::new();
    spawn(&mut fifo, [task(2), task(0)]);
    fifo.push(task(9), Ready::Woken);
    assert_eq!(fifo.pop(), Some(task(2).id));
    fifo.push(task(1), Ready::Woken);
    fifo.push(task(2), Ready::Yielded);
    assert_eq!(drain(&mut fifo), [0, 9, 1, 2]);
    assert_eq!(fifo.pop(), None);
}

#[test]
fn reads_no_clock() {
    const { assert!(!RunnableFifo::NEEDS_SERVICE) };
}

#[test]
fn debug_is_short_however_many_tasks_there_are() {
    let mut fifo = RunnableFifo::new();
    spawn(&mut fifo, (0..5_000).map(task));
    assert_eq!(format!("{fifo:?}"), "RunnableFifo { ready: 5000, next: Some(task 0.0), .. }");
}
