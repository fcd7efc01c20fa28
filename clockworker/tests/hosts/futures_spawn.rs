//! Queues as the executors of the crate `futures`.

use std::cell::Cell;
use std::rc::Rc;

use clockworker::{Executor, Queue};
use futures::task::{LocalSpawn, LocalSpawnExt, Spawn, SpawnError, SpawnExt};

use crate::support::{OnDrop, settle};

/// As a library would.
fn library(executor: &dyn Spawn, local: &dyn LocalSpawn) -> Result<(), SpawnError> {
    executor.status()?;
    local.status_local()?;
    executor.spawn_obj(Box::new(async {}).into())?;
    let not_send = Rc::new(());
    local.spawn_local_obj(Box::new(async move { drop(not_send) }).into())
}

/// As a library that takes an executor by its type would.
fn takes<S: Spawn + LocalSpawn>(executor: S) -> Result<(), SpawnError> {
    executor.spawn(async {})?;
    executor.spawn_local(async {})
}

#[test]
fn a_queue_runs_what_is_spawned() {
    let ex = Executor::new();
    let queue = ex.new_queue("library").create().unwrap();
    library(&queue, &queue).unwrap();
    takes(&queue).unwrap();
    takes(queue.clone()).unwrap();
    ex.block_on(ex.drained());
    assert_eq!(queue.stats().completed, 6);
}

/// What is refused is dropped at once.
fn assert_refuses(queue: &Queue) {
    let dropped = Rc::new(Cell::new(0));
    let guard = OnDrop::new({
        let dropped = Rc::clone(&dropped);
        move || dropped.set(dropped.get() + 1)
    });
    let refused = queue.stats().refused;
    assert!(queue.spawn_local(async move { drop(guard) }).unwrap_err().is_shutdown());
    assert_eq!((dropped.get(), queue.stats().refused), (1, refused + 1));
    assert!(SpawnExt::spawn(queue, async {}).is_err());
}

#[test]
fn a_queue_that_refuses_gives_an_error() {
    let ex = Executor::new();
    let queue = ex.new_queue("library").max_live(1).create().unwrap();
    let task = queue.spawn(std::future::pending::<()>());
    assert_refuses(&queue);
    // It is full, and may have room later.
    assert!(queue.status().is_ok());
    queue.close();
    assert_refuses(&queue);
    assert!(queue.status().unwrap_err().is_shutdown() && queue.status_local().is_err());
    task.abort();
    settle(&ex);
    assert_refuses(&queue);
    let other = ex.default_queue().clone();
    drop(ex);
    assert_refuses(&other);
    assert!(other.status().is_err());
}
