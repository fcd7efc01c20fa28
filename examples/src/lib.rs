//! Short programs, one question each. They are in the files beside this crate's `README.md`, which lists them.
//!
//! Here is what they share: work, tasks that leave no CPU time over, and how late timers are beside them.

#![forbid(unsafe_code)]

pub mod adaptive_limit;
#[cfg(unix)]
pub mod per_core;
pub mod room;
pub mod web;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clockworker::{Executor, JoinError, Queue, QueueError};

/// Spawns four tasks in each of two queues that compute for ever, some microseconds at a time. Returns the queue that has
/// four fifths of the CPU.
///
/// # Errors
///
/// If there are queues of these names already.
pub fn saturate(ex: &Executor) -> Result<Queue, QueueError> {
    let background = ex.new_queue("background").create()?;
    let foreground = ex.new_queue("foreground").share(4).create()?;
    for queue in [&background, &foreground] {
        for _ in 0..4 {
            queue.spawn(async {
                let mut x = 1_u64;
                loop {
                    for _ in 0..2_000 {
                        x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
                    }
                    clockworker::yield_now().await;
                }
            });
        }
    }
    Ok(foreground)
}

/// Computes for so long.
#[allow(clippy::disallowed_methods, reason = "it stands for work")]
pub fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Measures how late 200 timers of a millisecond are, in a task of `queue` and in the calling future at the same time; as text.
///
/// # Errors
///
/// If the task panics.
pub async fn lateness<S: Future + 'static>(
    queue: &Queue,
    sleep: impl Fn(Duration) -> S + Clone + 'static,
) -> Result<String, JoinError> {
    let task = queue.spawn(measure(sleep.clone()));
    let main = measure(sleep).await;
    Ok(format!("{} in a task, {main} in run_until", task.await?))
}

#[allow(clippy::disallowed_methods, reason = "this measures")]
async fn measure<S: Future>(sleep: impl Fn(Duration) -> S) -> String {
    let time = Duration::from_millis(1);
    let mut late = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        sleep(time).await;
        late.push(start.elapsed().saturating_sub(time));
    }
    late.sort_unstable();
    format!("{:.2?} (median), {:.2?} (most)", late[late.len() / 2], late[late.len() - 1])
}

/// At once, and not when a buffer is full: whoever started this program reads it.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// What the first page shows compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct FirstPage;

/// The guide's programs are tested with the docs.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../../docs/PER_CORE.md")]
struct PerCoreGuide;
