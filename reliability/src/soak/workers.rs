//! The other threads of a round: some that wake, abort and spawn, and one that awaits join handles on its own executor.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::Context;
use clockworker::{Executor, JoinError, JoinHandle};
use clockworker_testing::panics::drop_contained;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::ledger::{Ledger, Output, Tally};

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Where handles go to be awaited on another thread.
pub(super) type Awaiter = UnboundedSender<JoinHandle<Output>>;

/// The threads of a round. They end when the senders of jobs and handles are gone.
pub(super) struct Workers {
    threads: Vec<thread::JoinHandle<()>>,
    awaiter: thread::JoinHandle<()>,
}

impl Workers {
    /// Starts so many, and the one that awaits.
    pub(super) fn start(count: usize, ledger: &Arc<Ledger>) -> (Self, Vec<Sender<Job>>, Awaiter) {
        let (awaiter, handles) = unbounded_channel();
        let books = Arc::clone(ledger);
        let awaiting = thread::spawn(move || await_all(handles, &books));
        let (mut threads, mut jobs) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (send, receive) = channel::<Job>();
            threads.push(thread::spawn(move || receive.iter().for_each(|job| job())));
            jobs.push(send);
        }
        (Workers { threads, awaiter: awaiting }, jobs, awaiter)
    }

    /// Waits for those that wake, abort and spawn.
    pub(super) fn join(&mut self) -> anyhow::Result<()> {
        self.threads.drain(..).try_for_each(ended)
    }

    /// Waits for the one that awaits: all handles that it got have resolved then.
    pub(super) fn join_awaiter(self) -> anyhow::Result<()> {
        ended(self.awaiter)
    }
}

fn ended(thread: thread::JoinHandle<()>) -> anyhow::Result<()> {
    thread.join().ok().context("a thread beside the executor panicked")
}

fn await_all(mut handles: UnboundedReceiver<JoinHandle<Output>>, ledger: &Arc<Ledger>) {
    let ex = Executor::new();
    ex.block_on(async {
        while let Some(handle) = handles.recv().await {
            let ledger = Arc::clone(ledger);
            ex.spawn(async move {
                resolved(&ledger, handle.await);
                ledger.add(Tally::JoinedElsewhere);
            });
        }
        ex.drained().await;
    });
}

/// A handle has given what it had to give.
pub(super) fn resolved(ledger: &Ledger, result: Result<Output, JoinError>) {
    ledger.add(Tally::HandlesResolved);
    drop_contained(result);
}
