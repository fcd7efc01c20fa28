//! Queues as hyper's executors: what hyper gives them runs where they say.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use clockworker::hyper::QueueExecutor;
use clockworker::schedulers::Las;
use clockworker::{Executor, Group};
use hyper::rt::Executor as _;

use crate::support::OnDrop;

/// A future that is not `Send`, and what it counts: up by one when it is run, and by ten when it is dropped.
fn counts(counter: &Rc<Cell<u32>>) -> impl Future<Output = ()> + 'static {
    let (runs, drops) = (Rc::clone(counter), Rc::clone(counter));
    let guard = OnDrop::new(move || drops.set(drops.get() + 10));
    async move {
        let _guard = guard;
        runs.set(runs.get() + 1);
    }
}

#[test]
fn a_queue_runs_what_is_not_send() {
    let ex = Executor::new();
    let queue = ex.new_queue("requests").create().unwrap();
    let counter = Rc::new(Cell::new(0));
    queue.execute(counts(&counter));
    ex.block_on(ex.drained());
    assert_eq!((counter.get(), queue.stats().completed), (11, 1));
}

#[test]
fn a_group_runs_it_as_its_own() {
    let ex = Executor::new();
    let queue = ex.new_queue("requests").scheduler(Las::new()).create().unwrap();
    let counter = Rc::new(Cell::new(0));
    let tenants: [Group; 2] = [queue.group(1), queue.group(2)];
    tenants.iter().for_each(|tenant| tenant.execute(counts(&counter)));
    ex.block_on(ex.drained());
    assert_eq!((counter.get(), queue.stats().completed), (22, 2));
}

#[test]
fn a_closed_queue_drops_it() {
    let ex = Executor::new();
    let queue = ex.new_queue("requests").create().unwrap();
    queue.close();
    let counter = Rc::new(Cell::new(0));
    queue.execute(counts(&counter));
    assert_eq!(counter.get(), 10);
}

#[test]
fn other_threads_reach_a_queue_by_its_name() {
    let ex = Executor::new();
    let queue = ex.new_queue("calls").create().unwrap();
    let executor = QueueExecutor::new(ex.handle(), "calls");
    thread::scope(|scope| {
        for _ in 0..4 {
            let executor = executor.clone();
            scope.spawn(move || executor.execute(async {}));
        }
    });
    ex.block_on(ex.drained());
    assert_eq!((executor.queue(), queue.stats().completed), ("calls", 4));
}

#[test]
fn a_name_that_no_queue_has_yet_drops_the_future() {
    let ex = Executor::new();
    let executor = QueueExecutor::new(ex.handle(), "calls");
    let (held, let_go) = std::sync::mpsc::channel::<()>();
    executor.execute(async move { drop(held) });
    assert!(let_go.recv().is_err());
    let queue = ex.new_queue("calls").create().unwrap();
    executor.execute(async {});
    ex.block_on(ex.drained());
    assert_eq!((queue.stats().spawned, queue.stats().completed), (1, 1));
}
