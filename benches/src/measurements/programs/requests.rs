//! A task for each request, on monoio.

use super::task::{run, spawn};
use crate::harness::Sample;
use crate::measurements::programs::{Program, Setting, TIME};
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;

pub(crate) const PROGRAM: Program = Program {
    base: "monoio spawn",
    ..Program::new("monoio_requests", "on monoio, a task per request", task_per_request)
};

/// Connections, each a task, that spawn a task for every request and wait for it.
fn task_per_request(setting: &Setting) -> Sample {
    let (connections, requests) = (setting.size(64, 4), setting.size(2_000, 10));
    run(async move {
        let watch = Stopwatch::start();
        let connection = |_| {
            spawn(async move {
                for _ in 0..requests {
                    end_of(spawn(SelfWaking::new(1))).await;
                }
            })
        };
        for connection in (0..connections).map(connection).collect::<Vec<_>>() {
            end_of(connection).await;
        }
        Sample::default().number(TIME, watch.nanos())
    })
}

async fn end_of(task: impl Future) {
    task.await;
}
