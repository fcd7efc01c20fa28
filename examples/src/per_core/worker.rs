//! A core: its executor, and its life until the end.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use clockworker::{Executor, JoinHandle, Queue, QueueError, ShutdownReport};
use futures::StreamExt;
use futures::channel::mpsc;
use futures::future::select;
use tokio::sync::watch;

use super::peers::{CALLS, Peers};
use super::session::Session;

/// How a core ended.
pub type Ended = io::Result<ShutdownReport>;

/// Where a core's connections come from.
#[derive(Debug)]
pub struct Door {
    /// Of all listeners on the address, this core's.
    pub listener: TcpListener,
    /// For each connection a clone of its own.
    pub session: Session,
}

/// A core's executor, made on the core's thread.
#[derive(Debug)]
pub struct Worker {
    /// To be run by the core's host.
    pub ex: Executor,
    /// The queue for connections.
    pub requests: Queue,
    /// How long to run it.
    pub life: Life,
}

/// When a core is to end.
#[derive(Debug)]
pub struct Life {
    duty: Duty,
    /// Ends when no session is left.
    sessions: mpsc::Receiver<Infallible>,
    done: Done,
}

/// What a core is told.
#[derive(Debug)]
pub(super) struct Duty {
    /// How long what is under way may take once it is time to stop.
    pub(super) grace: Duration,
    /// Take no more connections.
    pub(super) stopped: Notice,
    /// No core has anything to ask any more.
    pub(super) closed: Notice,
}

/// A moment that tasks of all cores wait for: when the sender is dropped.
pub(super) type Notice = watch::Receiver<()>;

pub(super) async fn given(notice: &Notice) {
    // An error, as nothing else is sent.
    let _ = notice.clone().changed().await;
}

/// What the cores and the signals tell the main thread.
#[derive(Debug)]
pub(super) enum Event {
    Signal,
    NotPinned(usize),
    /// A core has no connections any more, or has failed.
    Done,
}

/// Says that the core is done, also when it panics.
#[derive(Debug)]
struct Done(Sender<Event>);

impl Drop for Done {
    fn drop(&mut self) {
        // The main thread may have failed.
        let _ = self.0.send(Event::Done);
    }
}

impl Worker {
    pub(super) fn new(
        core: usize,
        peers: Arc<Peers>,
        duty: Duty,
        events: Sender<Event>,
    ) -> Result<(Self, Session), QueueError> {
        let done = Done(events);
        let ex = Executor::new();
        let requests = ex.new_queue("requests").create()?;
        ex.new_queue(CALLS).create()?;
        peers.meet(core, ex.handle());
        let (open, sessions) = mpsc::channel(0);
        let session = Session { peers, stopped: duty.stopped.clone(), _open: open, under_way: false };
        let life = Life { duty, sessions, done };
        Ok((Self { ex, requests, life }, session))
    }
}

impl Life {
    /// For `run_until`: serves until it is time to stop, then takes no new connections, until all are done or the grace is
    /// over; then serves other cores only, until all are done. What is left is for [`Executor::shutdown`] to cut.
    ///
    /// `accepting` is the task that takes connections, and `sleep` the host's timer.
    pub async fn until_closed<T, S: Future>(
        self,
        accepting: JoinHandle<T>,
        sleep: impl FnOnce(Duration) -> S,
    ) {
        let Self { duty: Duty { grace, stopped, closed }, mut sessions, done } = self;
        given(&stopped).await;
        // With it goes the listener: what comes from now on is refused.
        accepting.abort();
        select(sessions.next(), pin!(sleep(grace))).await;
        drop(done);
        given(&closed).await;
    }
}
