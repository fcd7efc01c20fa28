//! A queue where its numbers end. Only here can a test get there.

use std::future::pending;
use std::rc::Rc;

use super::*;
use crate::queue::{Limits, MAX_TASKS};
use crate::run::RunQueue;
use crate::{Executor, JoinHandle};

/// An executor, and its only queue with what it hides.
fn world() -> (Executor, Rc<RunQueue>) {
    let executor = Executor::new();
    let queue = Rc::clone(&executor.default_queue().inner);
    (executor, queue)
}

fn refusal<T>(executor: &Executor, task: JoinHandle<T>) -> String {
    let Err(error) = executor.block_on(task) else { panic!("an output") };
    assert!(error.is_refused());
    error.to_string()
}

#[test]
fn a_full_queue_refuses_tasks_from_everywhere_until_there_is_room() {
    let (executor, queue) = world();
    assert_eq!(queue.takes_below.get(), MAX_TASKS);
    queue.takes_below.set(2);
    queue.limits.set(Limits { live: Some(2), ..Limits::default() });
    let first = executor.spawn(pending::<()>());
    let second = executor.spawn(async {});
    assert!(refusal(&executor, executor.spawn(async {})).ends_with("its queue is full"));
    executor.block_on(second).unwrap();
    let remote = executor.handle().spawn(pending::<()>);
    executor.block_on(crate::yield_now());
    assert!(refusal(&executor, executor.handle().spawn(|| async {})).ends_with("its queue is full"));
    drop(remote);
    first.abort();
    assert!(executor.block_on(first).unwrap_err().is_cancelled());
    assert_eq!(executor.block_on(executor.spawn(async { 7 })).unwrap(), 7);
    // A task refused by `Core::spawn` is counted nowhere; one refused at admission is.
    let stats = executor.stats();
    assert_eq!((stats.spawned, stats.completed, stats.cancelled, stats.live), (5, 2, 2, 1));
}

#[test]
fn generations_go_round_and_pass_over_zero() {
    let (executor, queue) = world();
    queue.records.borrow_mut().generation = u32::MAX - 2;
    let mut generations = Vec::new();
    let tasks: Vec<_> = (0..5)
        .map(|i| {
            let task = executor.spawn(async move {
                crate::yield_now().await;
                i
            });
            generations.push(queue.records.borrow().generation);
            task
        })
        .collect();
    assert_eq!(generations, [u32::MAX - 1, u32::MAX, 1, 2, 3]);
    for (i, task) in tasks.into_iter().enumerate() {
        assert_eq!(executor.block_on(task).unwrap(), i);
    }
    assert_eq!(queue.fault.get(), None);
}

#[test]
fn an_old_id_of_the_same_slot_before_the_generations_went_round_is_no_tasks() {
    let (executor, queue) = world();
    queue.records.borrow_mut().generation = u32::MAX - 1;
    drop(executor.spawn(async {}));
    executor.block_on(executor.drained());
    drop(executor.spawn(pending::<()>()));
    let (key, _) = queue.arrivals().next().flatten().unwrap();
    let mut records = queue.records.borrow_mut();
    assert!(records.task(key).is_some());
    assert!(matches!(records.take_ready(TaskId::new(0, u32::MAX)), Popped::Fault(PolicyFault::Invented)));
    assert!(matches!(records.take_ready(TaskId::new(0, 0)), Popped::Fault(PolicyFault::Invented)));
    let Popped::Task { runnable, .. } = records.take_ready(TaskId::new(0, 1)) else { panic!("no task") };
    runnable.put_back();
}

/// Tasks are many, and their records are read and written twice a poll. A slab's entry is as large as an enum like this, of a
/// record or the index of the next vacant slot. (Compilers that draw layouts by lot may need more.)
#[test]
#[cfg(target_pointer_width = "64")]
fn a_record_takes_16_bytes() {
    #[allow(dead_code, reason = "it is only measured")]
    enum Entry {
        Vacant(usize),
        Occupied(Record),
    }
    assert_eq!(size_of::<Entry>(), 16);
}
