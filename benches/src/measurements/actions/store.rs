//! The thread of the database: requests go there by a channel, answers come back by another, and no executor is blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::interrupt::interrupted;
use super::trouble::Trouble;
use crate::harness::{Pinning, Side};
use crate::stopwatch::Stopwatch;

type Request = Box<dyn FnOnce(&mut Connection, &mut Moments) + Send>;

/// The database behind its thread. Each call is a transaction.
#[derive(Debug)]
pub(super) struct Store {
    requests: mpsc::Sender<Request>,
    thread: JoinHandle<()>,
    busy_ns: Arc<AtomicU64>,
}

/// The signal that a test wants, and when: two moments pass with each transaction, before its commit and after.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) kill_at: Option<u64>,
    pub(super) interrupt_at: Option<u64>,
    pub(super) passed: u64,
}

impl Store {
    /// Has a thread of its own, on the other core where there is one, serve requests until [`Store::close`].
    pub(super) fn start(mut connection: Connection, pinning: Option<Pinning>, mut moments: Moments) -> Self {
        let (requests, received) = mpsc::channel::<Request>();
        let busy_ns = Arc::<AtomicU64>::default();
        let busy = busy_ns.clone();
        let thread = thread::spawn(move || {
            if let Some(pinning) = pinning {
                pinning.pin(Side::Load);
            }
            for request in received {
                let watch = Stopwatch::start();
                request(&mut connection, &mut moments);
                busy.fetch_add(watch.nanos() as u64, Ordering::Relaxed);
            }
        });
        Store { requests, thread, busy_ns }
    }

    /// Has `work` done in a transaction. If it fails nothing of it has happened.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Trouble> {
        let (answer, answered) = oneshot::channel();
        let request = move |connection: &mut Connection, moments: &mut Moments| {
            // Who asked may be gone, after an error.
            let _ = answer.send(in_transaction(connection, moments, work));
        };
        self.requests.send(Box::new(request)).map_err(|_| Trouble::Gone)?;
        Ok(answered.await.map_err(|_| Trouble::Gone)??)
    }

    pub(super) fn busy_ns(&self) -> u64 {
        self.busy_ns.load(Ordering::Relaxed)
    }

    /// Waits until the thread has closed the database.
    pub(super) fn close(self) -> Result<(), Trouble> {
        drop(self.requests);
        self.thread.join().map_err(|_| Trouble::Gone)
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    moments: &mut Moments,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = work(&transaction)?;
    moments.pass();
    transaction.commit()?;
    moments.pass();
    Ok(found)
}

impl Moments {
    fn pass(&mut self) {
        self.passed += 1;
        #[cfg(unix)]
        {
            use rustix::process::{Signal, getpid, kill_process};

            let due = |at: Option<u64>| at == Some(self.passed);
            let wanted = [(due(self.kill_at), Signal::KILL), (due(self.interrupt_at), Signal::INT)];
            for (_, signal) in wanted.into_iter().filter(|(is_due, _)| *is_due) {
                kill_process(getpid(), signal).expect("a process may signal itself");
                // No transaction comes between the signal and its being noticed.
                let _ = futures::executor::block_on(interrupted().wait_for(|asked| *asked));
            }
        }
    }
}
