//! The tasks of a manager, as they would be written for a LocalSet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use tokio::sync::mpsc;
use tokio::time::{interval, interval_at, sleep_until};

use super::event::{Event, Payload, Speech};
use super::manager::{Manager, Prompt, Session, Tally};
use crate::arms::joined::one_turn;

/// An agent's output: so many events at each of these times, with such a pause after each event.
pub(super) async fn output<P: Payload>(
    mut speech: Speech,
    events: mpsc::Sender<P>,
    bursts: impl Iterator<Item = Instant>,
    (number, pause): (u32, Option<Duration>),
) {
    for at in bursts {
        sleep_until(at.into()).await;
        let mut pace = pause.map(interval);
        for _ in 0..number {
            if let Some(pace) = &mut pace {
                pace.tick().await;
            }
            if events.send(speech.next().into()).await.is_err() {
                return;
            }
        }
    }
}

/// An agent's input, where prompts arrive: each is a line.
pub(super) async fn input(mut prompts: mpsc::Receiver<Prompt>) {
    let mut connection = Connection::default();
    while let Some(prompt) = prompts.recv().await {
        connection.write(&prompt);
    }
}

/// The event loop of a session.
pub(super) async fn event_loop<P: Payload>(
    manager: Rc<Manager<P>>,
    session: Rc<Session<P>>,
    mut events: mpsc::Receiver<P>,
) {
    while let Some(event) = events.recv().await {
        manager.dispatch(&session, event);
    }
}

/// Asks a session for a checkpoint once in a period, so many times.
pub(super) async fn ticker<P: Payload>(
    manager: Rc<Manager<P>>,
    (number, first): (u32, Instant),
    (period, ticks): (Duration, u32),
) {
    let mut interval = interval_at(first.into(), period);
    for _ in 0..ticks {
        let due = interval.tick().await;
        manager.checkpoint(number, due.into()).await;
    }
}

/// The same for all sessions, in one task.
pub(super) async fn scheduler<P: Payload>(
    manager: Rc<Manager<P>>,
    firsts: Vec<(u32, Instant)>,
    (period, ticks): (Duration, u32),
) {
    let mut all: BinaryHeap<_> =
        firsts.into_iter().map(|(number, first)| Reverse((first, number, ticks))).collect();
    while let Some(Reverse((due, number, left))) = all.pop() {
        sleep_until(due.into()).await;
        manager.checkpoint(number, due).await;
        if left > 1 {
            all.push(Reverse((due + period, number, left - 1)));
        }
    }
}

/// To whose events somebody listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Session,
    Global,
}

impl Tally {
    fn lagged(&self, scope: Scope) {
        match scope {
            Scope::Session => self.counters().subscriber_lagged_errors_session_total += 1,
            Scope::Global => self.counters().subscriber_lagged_errors_global_total += 1,
        }
    }

    fn closed(&self, scope: Scope) {
        match scope {
            Scope::Session => self.counters().subscriber_closed_session_total += 1,
            Scope::Global => self.counters().subscriber_closed_global_total += 1,
        }
    }
}

/// A client that listens to the end: it gets each event as a line of JSON.
pub(super) async fn subscriber<P: Payload>(
    mut events: broadcast::Receiver<P>,
    scope: Scope,
    tally: Rc<Tally>,
) {
    let mut connection = Connection::default();
    loop {
        match events.recv().await {
            Ok(event) => connection.write::<Event>(event.borrow()),
            Err(RecvError::Lagged(_)) => tally.lagged(scope),
            Err(RecvError::Closed) => break tally.closed(scope),
        }
    }
    tally.written.set(tally.written.get() + connection.written);
}

/// A client that looks in: it subscribes, gets what comes by its next turn, and goes.
pub(super) async fn visitor<P: Payload>(manager: Rc<Manager<P>>, session: Option<u32>, tally: Rc<Tally>) {
    let (scope, events) = match session {
        Some(number) => (Scope::Session, manager.subscribe_session(number).await),
        None => (Scope::Global, Some(manager.subscribe_global())),
    };
    let Some(mut events) = events else { return };
    one_turn().await;
    let mut connection = Connection::default();
    loop {
        match events.try_recv() {
            Ok(event) => connection.write::<Event>(event.borrow()),
            Err(TryRecvError::Lagged(_)) => tally.lagged(scope),
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Closed) => return tally.closed(scope),
        }
    }
}

/// Where lines go: a buffer as before a socket, whose bytes are gone when it is full.
#[derive(Default)]
struct Connection {
    buffer: Vec<u8>,
    written: u64,
}

const BUFFER: usize = 16 << 10;

impl Connection {
    fn write<T: Serialize>(&mut self, message: &T) {
        let before = self.buffer.len();
        serde_json::to_writer(&mut self.buffer, message).expect("it is JSON, in memory");
        self.buffer.push(b'\n');
        self.written += (self.buffer.len() - before) as u64;
        if self.buffer.len() >= BUFFER {
            self.buffer.clear();
        }
    }
}
