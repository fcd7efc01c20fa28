//! The manager: its sessions, who listens to them, and the dispatch of an event.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;
use tokio::sync::{RwLock, broadcast, mpsc};

use super::counters::Counters;
use super::event::Payload;
use crate::stats::spread::Values;
use crate::stopwatch::{Stopwatch, now};

/// What a run has counted so far. Tasks share it.
#[derive(Default)]
pub(super) struct Tally {
    counters: RefCell<Counters>,
    /// When checkpoints had run, less when they were due.
    pub(super) late: RefCell<Values>,
    /// Bytes that clients which listened to the end got.
    pub(super) written: Cell<u64>,
}

impl Tally {
    pub(super) fn counters(&self) -> RefMut<'_, Counters> {
        self.counters.borrow_mut()
    }
}

/// What an agent is asked for.
#[derive(Debug, Serialize)]
pub(super) struct Prompt {
    session: u32,
    prompt: &'static str,
}

pub(super) struct Session<P> {
    events: broadcast::Sender<P>,
    prompts: mpsc::Sender<Prompt>,
}

struct State<P> {
    sessions: HashMap<u32, Rc<Session<P>>>,
    /// The session that the user looks at: its agent is not disturbed.
    focused: Option<u32>,
}

pub(super) struct Manager<P> {
    state: RwLock<State<P>>,
    global: broadcast::Sender<P>,
    tally: Rc<Tally>,
    skip_unheard: bool,
}

/// Prompts that an agent may have before it.
const PROMPTS: usize = 8;

impl<P: Payload> Manager<P> {
    pub(super) fn new(capacity: usize, focused: Option<u32>, skip_unheard: bool, tally: Rc<Tally>) -> Self {
        let state = RwLock::new(State { sessions: HashMap::new(), focused });
        Manager { state, global: broadcast::Sender::new(capacity), tally, skip_unheard }
    }

    /// Starts a session, with room for so many events; also where its agent gets prompts from.
    pub(super) async fn start_session(
        &self,
        number: u32,
        capacity: usize,
    ) -> (Rc<Session<P>>, mpsc::Receiver<Prompt>) {
        let (prompts, prompted) = mpsc::channel(PROMPTS);
        let session = Rc::new(Session { events: broadcast::Sender::new(capacity), prompts });
        self.state.write().await.sessions.insert(number, session.clone());
        (session, prompted)
    }

    /// Ends all sessions: their subscribers see what is left, and then the end.
    pub(super) async fn end_sessions(&self) {
        self.state.write().await.sessions.clear();
    }

    /// A receiver of a session's events, if there is such a session.
    pub(super) async fn subscribe_session(&self, number: u32) -> Option<broadcast::Receiver<P>> {
        let receiver = {
            let state = self.state.read().await;
            state.sessions.get(&number).map(|session| session.events.subscribe())
        };
        let mut counters = self.tally.counters();
        counters.subscribe_session_calls_total += 1;
        counters.subscribe_session_failures_total += u64::from(receiver.is_none());
        receiver
    }

    /// A receiver of all sessions' events.
    pub(super) fn subscribe_global(&self) -> broadcast::Receiver<P> {
        self.tally.counters().subscribe_global_calls_total += 1;
        self.global.subscribe()
    }

    /// Passes an event on to who listens to its session, and to who listens to all.
    pub(super) fn dispatch(&self, session: &Session<P>, event: P) {
        let watch = Stopwatch::start();
        let receivers = (session.events.receiver_count(), self.global.receiver_count());
        let is_heard = |receivers| !self.skip_unheard || receivers > 0;
        let to_session = is_heard(receivers.0).then(|| event.clone());
        let is_copied = to_session.is_some() && P::IS_COPIED;
        let in_session = to_session.is_some_and(|event| session.events.send(event).is_ok());
        let in_global = is_heard(receivers.1) && self.global.send(event).is_ok();
        let nanos = watch.elapsed().as_nanos() as u64;
        let mut counters = self.tally.counters();
        counters.events_received_total += 1;
        counters.event_clone_ops_total += u64::from(is_copied);
        counters.events_forwarded_session_total += u64::from(in_session);
        counters.events_forwarded_global_total += u64::from(in_global);
        counters.session_receiver_count_last = receivers.0 as u64;
        counters.global_receiver_count_last = receivers.1 as u64;
        counters.event_dispatch_nanos_total += nanos;
    }

    /// Asks a session's agent for a checkpoint, unless the user looks at it.
    pub(super) async fn checkpoint(&self, number: u32, due: Instant) {
        let watch = Stopwatch::start();
        let session = {
            let state = self.state.read().await;
            let waited = watch.elapsed().as_nanos() as u64;
            self.tally.counters().checkpoint_loop_read_lock_wait_nanos_total += waited;
            state.sessions.get(&number).filter(|_| state.focused != Some(number)).cloned()
        };
        self.tally.counters().checkpoint_ticks_total += 1;
        match session {
            Some(session) => self.prompt(number, &session).await,
            None => self.tally.counters().checkpoint_skips_focused_total += 1,
        }
        let late = now().saturating_duration_since(due).as_nanos() as u64;
        self.tally.late.borrow_mut().add_nanos(Some(late));
    }

    async fn prompt(&self, number: u32, session: &Session<P>) {
        let watch = Stopwatch::start();
        let prompt = Prompt { session: number, prompt: "Write down where you are." };
        let sent = session.prompts.send(prompt).await;
        let nanos = watch.elapsed().as_nanos() as u64;
        let mut counters = self.tally.counters();
        counters.checkpoint_send_attempts_total += 1;
        counters.checkpoint_send_failures_total += u64::from(sent.is_err());
        counters.checkpoint_send_nanos_total += nanos;
    }
}
