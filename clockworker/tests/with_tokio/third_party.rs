//! Code that spawns on tokio's own local tasks, called from tasks of an executor: where tokio has a context for it, it works.

use std::future::pending;
use std::rc::Rc;

use clockworker::Executor;
use tokio::runtime::{Builder, Handle};
use tokio::task::LocalSet;

/// As a library would that knows nothing of this executor.
async fn library(input: Rc<u32>) -> u32 {
    let task = tokio::task::spawn_local(async move {
        tokio::task::yield_now().await;
        *input
    });
    task.await.unwrap() + 1
}

async fn application(ex: &Executor) {
    let tasks: Vec<_> = (0..100).map(|i| ex.spawn(library(Rc::new(i)))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.unwrap();
    }
    assert_eq!(sum, (1..=100).sum());
}

#[test]
fn inside_a_local_runtime() {
    let rt = Builder::new_current_thread().build_local(Default::default()).unwrap();
    let ex = Executor::new();
    rt.block_on(ex.run_until(application(&ex)));
}

#[test]
fn inside_a_local_set_on_either_flavour() {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let ex = Executor::new();
        let rt = builder.worker_threads(1).build().unwrap();
        LocalSet::new().block_on(&rt, ex.run_until(application(&ex)));
    }
}

/// How many tasks tokio counts while an executor has one more, and when each way to escape it was taken.
async fn counted(ex: &Executor) -> [usize; 4] {
    let count = || Handle::current().metrics().num_alive_tasks();
    let before = count();
    ex.spawn(pending::<()>());
    let of_ours = count();
    tokio::spawn(pending::<()>());
    let of_tokio = count();
    tokio::task::spawn_local(pending::<()>());
    [before, of_ours, of_tokio, count()]
}

/// As docs/MIGRATION.md has a program find them.
#[test]
fn what_escapes_is_counted_by_tokio_but_in_a_local_set() {
    let (ex, rt) = (Executor::new(), Builder::new_current_thread().build_local(Default::default()).unwrap());
    assert_eq!(rt.block_on(ex.run_until(counted(&ex))), [0, 0, 1, 2]);
    let (ex, rt) = (Executor::new(), Builder::new_current_thread().build().unwrap());
    assert_eq!(LocalSet::new().block_on(&rt, ex.run_until(counted(&ex))), [0, 0, 1, 1]);
}

/// Without either, tokio's panic says what is missing, in the task that asked.
#[test]
fn without_a_context_the_task_panics_and_no_other() {
    let rt = Builder::new_current_thread().build().unwrap();
    let ex = Executor::new();
    let (asks, other) = (ex.spawn(library(Rc::new(0))), ex.spawn(async { 1 }));
    rt.block_on(ex.run_until(async {
        assert!(asks.await.unwrap_err().is_panic());
        assert_eq!(other.await.unwrap(), 1);
    }));
}
