//! Tasks' beginnings and ends.

use std::future::{pending, ready};

use clockworker::schedulers::FairGroups;
use clockworker::{Executor, JoinHandle, JoinSet, ManualClock};
use tokio::task::LocalSet;

use super::{MOST, Operation, SIZES, elsewhere, executor, run_dry, run_until, timeless};
use crate::region::Region;

pub(super) const TABLE: &[Operation] = &[
    Operation::ours("spawn", "spawn", |region| {
        let executor = timeless();
        let mut handles: Vec<JoinHandle<()>> = Vec::with_capacity(MOST as usize);
        for n in SIZES {
            region.count(n, &mut || handles.extend((0..n).map(|_| executor.spawn(ready(())))));
            handles.clear();
            run_dry(&executor);
        }
    }),
    Operation::ours("finish_detached", "first poll and end, detached", |region| {
        let executor = timeless();
        for n in SIZES {
            for _ in 0..n {
                executor.spawn(ready(()));
            }
            region.count(n, &mut || run_dry(&executor));
        }
    }),
    Operation::ours("spawn_and_join", "spawn, poll, join", |region| spawn_and_join(&timeless(), region)),
    // Each task is a group of its own.
    Operation::ours("spawn_and_join_fair_groups", "spawn, poll, join, FairGroups", |region| {
        spawn_and_join(&executor(&ManualClock::new(), FairGroups::new()), region);
    }),
    Operation::ours("spawn_remote", "spawn, other thread", |region| {
        let executor = timeless();
        let handle = executor.handle();
        for n in SIZES {
            elsewhere(|| {
                region.count(n, &mut || {
                    for _ in 0..n {
                        handle.spawn(|| ready(()));
                    }
                });
            });
            run_dry(&executor);
        }
    }),
    Operation::ours("finish_remote", "admission, first poll and end of it", |region| {
        let executor = timeless();
        let handle = executor.handle();
        for n in SIZES {
            elsewhere(|| {
                for _ in 0..n {
                    handle.spawn(|| ready(()));
                }
            });
            region.count(n, &mut || run_dry(&executor));
        }
    }),
    Operation::ours("join_set", "spawn, poll, join, in a JoinSet", |region| {
        let executor = timeless();
        for n in SIZES {
            region.count(n, &mut || {
                run_until(&executor, async {
                    let mut tasks = JoinSet::new();
                    for _ in 0..n {
                        tasks.spawn_local_on(ready(()), executor.default_queue());
                    }
                    while tasks.join_next().await.is_some() {}
                });
            });
        }
    }),
    Operation::ours("abort", "abort a waiting task, and its end", |region| {
        let executor = timeless();
        for n in SIZES {
            let handles: Vec<JoinHandle<()>> = (0..n).map(|_| executor.spawn(pending())).collect();
            run_dry(&executor);
            region.count(n, &mut || {
                handles.iter().for_each(JoinHandle::abort);
                run_dry(&executor);
            });
            assert!(handles.iter().all(JoinHandle::is_finished));
        }
    }),
    Operation::theirs("local_set_spawn_and_join", "LocalSet: spawn, poll, join", |region| {
        let local = LocalSet::new();
        let mut handles: Vec<tokio::task::JoinHandle<()>> = Vec::with_capacity(MOST as usize);
        for n in SIZES {
            region.count(n, &mut || {
                run_until(&local, async {
                    handles.extend((0..n).map(|_| tokio::task::spawn_local(ready(()))));
                    for handle in handles.drain(..) {
                        handle.await.expect("the task neither panics nor is aborted");
                    }
                });
            });
        }
    }),
];

/// Spawns all tasks, then joins all.
fn spawn_and_join(executor: &Executor, region: &dyn Region) {
    let mut handles: Vec<JoinHandle<()>> = Vec::with_capacity(MOST as usize);
    for n in SIZES {
        region.count(n, &mut || {
            run_until(executor, async {
                handles.extend((0..n).map(|_| executor.spawn(ready(()))));
                for handle in handles.drain(..) {
                    handle.await.expect("the task neither panics nor is aborted");
                }
            });
        });
    }
}
