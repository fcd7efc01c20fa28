//! Tasks come and go.

use tokio::sync::mpsc;

use super::support::{spawn_all, timed};
use super::task::{JoinSet, spawn_local, yield_now};
use crate::harness::{Sample, Side};
use crate::measurements::programs::Setting;

pub(super) fn spawns_two(setting: &Setting) -> Sample {
    let rounds = setting.size(50_000, 50);
    timed(async move {
        for _ in 0..rounds {
            let [first, second] = [spawn_local(yield_now()), spawn_local(yield_now())];
            first.await.expect("no task fails");
            second.await.expect("no task fails");
        }
    })
}

/// Tasks of the runtime, not of the set, one after the other.
pub(super) async fn tokio_spawns(tasks: usize) {
    for number in 0..tasks {
        let found = tokio::spawn(async move { number }).await.expect("no task fails");
        assert_eq!(found, number);
    }
}

pub(super) fn join_set(setting: &Setting) -> Sample {
    let (tasks, at_once) = (setting.size(100_000, 100), setting.size(1_000, 10));
    timed(async move {
        let mut set = JoinSet::new();
        for _ in 0..tasks {
            if set.len() == at_once {
                set.join_next().await.expect("it is not empty").expect("no task fails");
            }
            set.spawn_local(yield_now());
        }
        while let Some(joined) = set.join_next().await {
            joined.expect("no task fails");
        }
    })
}

/// Threads send requests; a task spawns one for each. The set ends when all are served.
pub(super) fn spawns_from_threads(setting: &Setting, threads: usize) -> Sample {
    let requests = setting.size(100_000, 100) / threads;
    timed(async move {
        let (sender, mut inbox) = mpsc::unbounded_channel();
        let senders: Vec<_> = (0..threads)
            .map(|_| {
                let sender = sender.clone();
                setting.pinning.thread(Side::Load, move || {
                    (0..requests).for_each(|number| sender.send(number).expect("it is received"));
                })
            })
            .collect();
        drop(sender);
        let (served, mut ended) = mpsc::unbounded_channel();
        let spawner = spawn_local(async move {
            while let Some(number) = inbox.recv().await {
                let served = served.clone();
                drop(spawn_local(async move { served.send(number).expect("it is received") }));
            }
        });
        spawner.await.expect("the spawner does not fail");
        for _ in 0..requests * threads {
            ended.recv().await.expect("every request is served");
        }
        senders.into_iter().for_each(|sender| sender.join().expect("no thread panics"));
    })
}

pub(super) fn spawn_blocking(setting: &Setting) -> Sample {
    let (tasks, times) = (setting.size(64, 4), setting.size(50, 2));
    timed(spawn_all(tasks, |_| async move {
        for number in 0..times {
            let found = tokio::task::spawn_blocking(move || number).await.expect("no closure panics");
            assert_eq!(found, number);
        }
    }))
}
