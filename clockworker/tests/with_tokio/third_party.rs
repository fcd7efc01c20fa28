//! Code that spawns on tokio's own local tasks, called from tasks of an executor: where tokio has a context for it, it works.

use std::rc::Rc;

use clockworker::Executor;
use tokio::runtime::Builder;
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
