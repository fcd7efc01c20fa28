//! Tasks' beginnings and ends.

use std::future::{pending, ready};
use std::pin::pin;
use std::task::Poll;

use clockworker::schedulers::RunnableFifo;
use clockworker::{JoinHandle, JoinSet, ManualClock};
use tokio::task::LocalSet;

use super::{MOST, Workload, drive, elsewhere, executor, run_dry, run_until};

fn one_queue() -> clockworker::Executor {
    executor(&ManualClock::new(), RunnableFifo::new())
}

pub(super) fn spawn() -> Workload {
    let executor = one_queue();
    let mut handles: Vec<JoinHandle<()>> = Vec::with_capacity(MOST as usize);
    Box::new(move |n, region| {
        region.count(n, &mut || handles.extend((0..n).map(|_| executor.spawn(ready(())))));
        handles.clear();
        run_dry(&executor);
    })
}

pub(super) fn finish_detached() -> Workload {
    let executor = one_queue();
    Box::new(move |n, region| {
        for _ in 0..n {
            executor.spawn(ready(()));
        }
        region.count(n, &mut || run_dry(&executor));
    })
}

pub(super) fn spawn_and_join() -> Workload {
    let executor = one_queue();
    let mut handles: Vec<JoinHandle<()>> = Vec::with_capacity(MOST as usize);
    Box::new(move |n, region| {
        region.count(n, &mut || {
            run_until(&executor, async {
                handles.extend((0..n).map(|_| executor.spawn(ready(()))));
                for handle in handles.drain(..) {
                    handle.await.expect("the task neither panics nor is aborted");
                }
            });
        });
    })
}

pub(super) fn local_set() -> Workload {
    let local = LocalSet::new();
    let mut handles: Vec<tokio::task::JoinHandle<()>> = Vec::with_capacity(MOST as usize);
    Box::new(move |n, region| {
        region.count(n, &mut || {
            let root = local.run_until(async {
                handles.extend((0..n).map(|_| tokio::task::spawn_local(ready(()))));
                for handle in handles.drain(..) {
                    handle.await.expect("the task neither panics nor is aborted");
                }
            });
            assert!(matches!(drive(pin!(root)), Poll::Ready(())));
        });
    })
}

pub(super) fn join_set() -> Workload {
    let executor = one_queue();
    Box::new(move |n, region| {
        region.count(n, &mut || {
            run_until(&executor, async {
                let mut tasks = JoinSet::new();
                for _ in 0..n {
                    tasks.spawn_local_on(ready(()), executor.default_queue());
                }
                while tasks.join_next().await.is_some() {}
            });
        });
    })
}

pub(super) fn spawn_remote() -> Workload {
    let executor = one_queue();
    Box::new(move |n, region| {
        let handle = executor.handle();
        elsewhere(|| {
            region.count(n, &mut || {
                for _ in 0..n {
                    handle.spawn(|| ready(()));
                }
            });
        });
        run_dry(&executor);
    })
}

pub(super) fn finish_remote() -> Workload {
    let executor = one_queue();
    Box::new(move |n, region| {
        let handle = executor.handle();
        elsewhere(|| {
            for _ in 0..n {
                handle.spawn(|| ready(()));
            }
        });
        region.count(n, &mut || run_dry(&executor));
    })
}

pub(super) fn abort() -> Workload {
    let executor = one_queue();
    Box::new(move |n, region| {
        let handles: Vec<JoinHandle<()>> = (0..n).map(|_| executor.spawn(pending())).collect();
        run_dry(&executor);
        region.count(n, &mut || {
            for handle in &handles {
                handle.abort();
            }
            run_dry(&executor);
        });
        assert!(handles.iter().all(JoinHandle::is_finished));
    })
}
