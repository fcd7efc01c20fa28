//! The other threads of a round: some that wake, abort and spawn, and one that awaits join handles on its own executor.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Waker;
use std::thread;

use anyhow::Context;
use clockworker::{AbortHandle, Executor, Handle, JoinError, JoinHandle};
use clockworker_testing::panics::drop_contained;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::gate::Opener;
use super::ledger::{Ledger, Output, Tally};
use super::tasks;

/// What a thread is asked to do.
pub(super) enum Job {
    Open(Opener),
    /// To wake for nothing, and drop.
    Wake(Waker),
    Abort(AbortHandle),
    /// To spawn a task, and send its handle to be awaited, or drop it.
    Spawn {
        handle: Handle,
        queue: String,
        id: u64,
        awaited: bool,
    },
}

/// Where handles go to be awaited on another thread.
pub(super) type Awaiter = UnboundedSender<JoinHandle<Output>>;

/// The threads of a round. They end when nobody can ask them any more.
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
            let (send, receive) = channel();
            let (books, awaiter) = (Arc::clone(ledger), awaiter.clone());
            threads.push(thread::spawn(move || work(receive, &books, &awaiter)));
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

fn work(jobs: Receiver<Job>, ledger: &Arc<Ledger>, awaiter: &Awaiter) {
    for job in jobs {
        match job {
            Job::Open(opener) => {
                if ledger.get(Tally::Wakes).is_multiple_of(4) {
                    // It wakes without ending the wait.
                    opener.waker.wake_by_ref();
                }
                opener.open();
            }
            Job::Wake(waker) => waker.wake_by_ref(),
            Job::Abort(task) => task.abort(),
            Job::Spawn { handle, queue, id, awaited } => {
                let task = tasks::spawn_on(&handle, &queue, ledger, id);
                if awaited {
                    drop(awaiter.send(task));
                }
            }
        }
    }
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
