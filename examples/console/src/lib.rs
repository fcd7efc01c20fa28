//! A small service: requests in one queue, compaction in another. Each task has a name.

use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};

/// What it runs in.
#[derive(Debug)]
pub struct Service {
    requests: Queue,
    compaction: Queue,
}

impl Service {
    /// Makes its queues.
    ///
    /// # Errors
    ///
    /// If there are too many queues.
    pub fn new(executor: &Executor) -> Result<Self, clockworker::QueueError> {
        let requests = executor.new_queue("requests").share(9).create()?;
        let compaction = executor.new_queue("compaction").create()?;
        Ok(Self { requests, compaction })
    }

    /// Serves a request every 10 ms, beside a compaction that always has work, until `is_over`.
    pub async fn run(&self, is_over: impl Fn() -> bool) {
        let compactor = self.compaction.new_task().name("compactor").spawn(async {
            loop {
                spin(Duration::from_micros(200));
                yield_now().await;
            }
        });
        while !is_over() {
            let request = self.requests.new_task().name("request").spawn(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                spin(Duration::from_micros(100));
            });
            tokio::time::sleep(Duration::from_millis(10)).await;
            // A request that panicked is its own business.
            let _ = request.await;
        }
        compactor.abort();
    }
}

fn spin(time: Duration) {
    let began = std::time::Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
