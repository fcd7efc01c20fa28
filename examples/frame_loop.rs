//! How do I run tasks in the frame loop of a game or a GUI?
//!
//! By steps. A frame draws first, and `run_for` gives tasks what is left of its 16 ms. Where nothing is left to do, the loop waits for the end
//! of the frame or for a task, whichever comes first. winit's loop does so by `ControlFlow::WaitUntil` and a user event of its
//! proxy; here it is a thread that is unparked.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]
#![allow(clippy::disallowed_methods, reason = "a frame loop reads the clock")]

use std::error::Error;
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use clockworker::{Executor, Step, yield_now};
use clockworker_examples::compute;
use futures::channel::mpsc;
use futures::{SinkExt, StreamExt};

const FRAME: Duration = Duration::from_millis(16);

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    ex.on_ready(Arc::new(Unpark(thread::current())).into());
    let (mut sends, mut files) = mpsc::channel(0);
    let reader = thread::spawn(move || {
        // Files are read where it may block. What comes wakes the task, and so the loop.
        futures::executor::block_on(async {
            for file in ["terrain", "textures", "sounds"] {
                sends.send(file).await?;
            }
            Ok::<_, mpsc::SendError>(())
        })
    });
    let level = ex.spawn(async move {
        let mut loaded = Vec::new();
        while let Some(file) = files.next().await {
            for _part in 0..50 {
                compute(Duration::from_micros(200)); // decompresses a part: 10 ms for each file
                yield_now().await;
            }
            loaded.push(file);
        }
        loaded
    });

    let mut frames = 0;
    while !level.is_finished() {
        let end = Instant::now() + FRAME;
        compute(Duration::from_millis(8)); // draws
        frames += 1;
        run_tasks(&ex, end);
    }
    let loaded = ex.block_on(level)?;
    reader.join().map_err(|_| "the reader panicked")??;
    println!("loaded {} beside {frames} frames", loaded.join(", "));
    Ok(())
}

/// Runs tasks until the frame ends.
fn run_tasks(ex: &Executor, end: Instant) {
    loop {
        let now = Instant::now();
        // Also where drawing took too long: a budget of zero is one poll.
        let wait_until = match ex.run_for(end.saturating_duration_since(now)) {
            Step::Ready => return,
            Step::Idle => end,
            Step::At(time) => time.min(end),
        };
        thread::park_timeout(wait_until.saturating_duration_since(Instant::now()));
        if Instant::now() >= end {
            return;
        }
    }
}

/// Has the loop go on.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
