//! A manager of agents' sessions: do checkpoints come on time, whatever the sessions say?
//!
//! What an agent says comes in bursts of events. The manager passes each event on to the client of that session, and to two clients
//! of all sessions. It asks each agent for a checkpoint once in a period, and clients come and go all the time. A burst of all
//! sessions is some 10 ms of work, for all of which a checkpoint may have to wait, unless it has a queue of its own.
//!
//! ```sh
//! cargo run --release -p clockworker-workloads --bin session_manager -- --on localset
//! cargo run --release -p clockworker-workloads --bin session_manager -- --on clockworker
//! ```

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;
use clockworker::{Executor, Queue, QueueError};
use clockworker_workloads::{Handle, On, Place, print_times, run};
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{RwLock, broadcast, mpsc};
use tokio::time::{Instant, interval, interval_at, sleep_until};

#[derive(Debug, Parser)]
struct Options {
    /// Who runs the tasks
    #[arg(long, value_enum, default_value = "clockworker")]
    on: On,

    #[arg(long, default_value_t = 30)]
    sessions: u32,

    /// Bursts, two periods apart, of 40 events in each session
    #[arg(long, default_value_t = 20)]
    bursts: u32,

    /// Ten sessions and two bursts
    #[arg(long)]
    quick: bool,
}

/// Time between two checkpoints of a session.
const PERIOD: Duration = Duration::from_millis(30);

/// Events of a burst in each session.
const EVENTS: u32 = 40;

/// The small request of the checkpoints' queue lets them in soon after a poll of another queue.
fn queues(ex: &Executor) -> Result<[Queue; 3], QueueError> {
    Ok([
        ex.new_queue("checkpoints").share(6).request(Duration::from_micros(50)).create()?,
        ex.new_queue("fanout").share(3).create()?,
        ex.new_queue("churn").create()?,
    ])
}

fn main() -> anyhow::Result<()> {
    let mut options = Options::parse();
    if options.quick {
        (options.sessions, options.bursts) = (10, 2);
    }
    let Times { late, delivered, visits } =
        run(options.on, queues, async |places| serve(&options, places).await)?;
    print_times([
        ("checkpoint, late by", late),
        ("event, until a client has it", delivered),
        ("visit", visits),
    ]);
    Ok(())
}

/// What was measured.
#[derive(Default)]
struct Times {
    /// When a checkpoint was asked for, less when it was due.
    late: Vec<Duration>,
    /// From when an agent said it until it was written to a client.
    delivered: Vec<Duration>,
    visits: Vec<Duration>,
}

/// What an agent says.
#[derive(Clone, Debug, Serialize)]
struct Event {
    session: u32,
    text: String,
    #[serde(skip)]
    said: Instant,
}

#[derive(Clone)]
struct Session {
    events: broadcast::Sender<Event>,
    /// Where the agent is asked for checkpoints.
    prompts: mpsc::Sender<&'static str>,
}

struct Manager {
    sessions: RwLock<HashMap<u32, Session>>,
    /// The events of all sessions.
    all: broadcast::Sender<Event>,
    times: Rc<RefCell<Times>>,
}

/// Runs the sessions to their end.
async fn serve(options: &Options, [checkpoints, fanout, churn]: [Place; 3]) -> Times {
    let times = Rc::<RefCell<Times>>::default();
    let listen = |events| fanout.spawn(client(times.clone(), events));
    let of_session = (EVENTS * options.bursts) as usize;
    let all = broadcast::Sender::new(of_session * options.sessions as usize);
    let mut clients: Vec<Handle<()>> = (0..2).map(|_| listen(all.subscribe())).collect();
    let manager = Rc::new(Manager { sessions: RwLock::default(), all, times: times.clone() });
    let (mut agents, start) = (Vec::new(), Instant::now());
    for number in 0..options.sessions {
        let (prompts, prompted) = mpsc::channel(8);
        let session = Session { events: broadcast::Sender::new(of_session), prompts };
        manager.sessions.write().await.insert(number, session.clone());
        clients.push(listen(session.events.subscribe()));
        clients.push(checkpoints.spawn(input(prompted)));
        let (say, said) = mpsc::channel(64);
        agents.push(fanout.spawn(output(number, say, start, options.bursts)));
        agents.push(fanout.spawn(event_loop(manager.clone(), session, said)));
        let first = start + PERIOD.mul_f64(fastrand::f64());
        agents.push(checkpoints.spawn(ticker(manager.clone(), number, first, 2 * options.bursts)));
    }
    let visits = PERIOD.as_millis() as u32 * 2 * options.bursts;
    agents.push(churn.spawn(visitors(manager.clone(), churn.clone(), options.sessions, visits)));
    for agent in agents {
        agent.await;
    }
    // With it go the sessions, whose clients see the end.
    drop(manager);
    for client in clients {
        client.await;
    }
    times.take()
}

/// An agent's output.
async fn output(session: u32, say: mpsc::Sender<Event>, start: Instant, bursts: u32) {
    for burst in 0..bursts {
        sleep_until(start + PERIOD / 3 + PERIOD * 2 * burst).await;
        for _ in 0..EVENTS {
            let text = "agent output ".repeat(fastrand::usize(80..320));
            // The event loop takes them as long as there are any.
            let _ = say.send(Event { session, text, said: Instant::now() }).await;
        }
    }
}

/// An agent's input: prompts, each as a line.
async fn input(mut prompts: mpsc::Receiver<&'static str>) {
    let mut connection = Connection::default();
    while let Some(prompt) = prompts.recv().await {
        connection.write(&prompt);
    }
}

/// Passes the events of a session on to who listens to it, and to who listens to all.
async fn event_loop(manager: Rc<Manager>, session: Session, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        // Nobody may listen.
        let _ = session.events.send(event.clone());
        let _ = manager.all.send(event);
    }
}

/// Asks a session for checkpoints.
async fn ticker(manager: Rc<Manager>, session: u32, first: Instant, checkpoints: u32) {
    let mut interval = interval_at(first, PERIOD);
    for _ in 0..checkpoints {
        let due = interval.tick().await;
        let prompts = manager.sessions.read().await[&session].prompts.clone();
        // Its agent takes prompts to the end.
        let _ = prompts.send("Write down where you are.").await;
        manager.times.borrow_mut().late.push(due.elapsed());
    }
}

/// A client that listens to the end: it gets each event as a line of JSON.
async fn client(times: Rc<RefCell<Times>>, mut events: broadcast::Receiver<Event>) {
    let mut connection = Connection::default();
    loop {
        match events.recv().await {
            Ok(event) => {
                connection.write(&event);
                times.borrow_mut().delivered.push(event.said.elapsed());
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Clients that look in, one each millisecond.
async fn visitors(manager: Rc<Manager>, churn: Place, sessions: u32, visits: u32) {
    let mut interval = interval(Duration::from_millis(1));
    let mut inside = Vec::new();
    for _ in 0..visits {
        interval.tick().await;
        inside.push(churn.spawn(visitor(manager.clone(), fastrand::u32(..sessions))));
    }
    for visit in inside {
        visit.await;
    }
}

/// Subscribes, gets what has come by the next turn, and goes.
async fn visitor(manager: Rc<Manager>, session: u32) {
    let came = Instant::now();
    let mut events = manager.sessions.read().await[&session].events.subscribe();
    tokio::task::yield_now().await;
    let mut connection = Connection::default();
    while let Ok(event) = events.try_recv() {
        connection.write(&event);
    }
    manager.times.borrow_mut().visits.push(came.elapsed());
}

/// Where lines go: a buffer as before a socket, which is sent when it is full.
#[derive(Default)]
struct Connection(Vec<u8>);

impl Connection {
    fn write(&mut self, message: &impl Serialize) {
        serde_json::to_writer(&mut self.0, message).expect("it is JSON, in memory");
        self.0.push(b'\n');
        if self.0.len() >= 16 << 10 {
            self.0.clear();
        }
    }
}
