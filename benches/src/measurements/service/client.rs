//! The client: all connections to one server, on the calling thread.
//!
//! It does not sleep while a window lasts, where it has a core to itself: how long the system takes to wake it would be in
//! every latency.

mod connection;

use std::io;
use std::net::{SocketAddr, TcpStream as Std};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::cell::{Found, LATENCY, LATENESS, Load, Server};
use super::protocol::Dialogue;
use super::schedule::Schedule;
use super::server::Setup;
use crate::harness::child::Child;
use crate::harness::{Pinning, Sample};
use crate::stopwatch::{Stopwatch, now};
use connection::Connection;

/// Events taken at a time: few, so that what is due meanwhile is sent between them.
const EVENTS: usize = 8;

/// Larger than what a connection can have under way as a rule.
const BUFFER: usize = 64 << 10;

/// Longest time until the server has answered everything, once its compactors rest.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long the last answers of an open loop may take, beside compactors that go on.
const LIMIT: Duration = Duration::from_millis(500);

/// A server of our own, in a process of its own.
struct Own {
    client: Client,
    process: Child,
}

pub(super) fn start(setup: Setup, load: &Load, pinning: &Pinning) -> Result<Box<dyn Server>> {
    let mut process = Child::start(["service-server", &serde_json::to_string(&setup)?])?;
    let dialogues = setup.protocol.dialogues(load.seed, load.connections);
    let client = Client::connect(process.hear()?, &dialogues, pinning.apart())?;
    process.let_run(false)?;
    Ok(Box::new(Own { client, process }))
}

impl Server for Own {
    fn window(&mut self, load: &Load, rate: Option<f64>, part: u64) -> Result<Found> {
        let schedule =
            rate.map(|rate| (rate, Schedule::draw(load.seed, part, rate, load.connections, load.window)));
        self.process.let_run(true)?;
        let before: u64 = self.process.ask(&())?;
        let watch = Stopwatch::start();
        let (sample, rate) = match schedule {
            None => (Sample::default(), self.client.closed(load.window)?),
            Some((rate, schedule)) => {
                let open = self.client.open(&schedule, LIMIT)?;
                let sample = Sample::default().waits(LATENCY, open.latencies);
                (sample.waits(LATENESS, open.lateness.into_iter().map(Some)), rate)
            }
        };
        let elapsed = watch.elapsed().as_secs_f64();
        let after: u64 = self.process.ask(&())?;
        self.client.settle()?;
        self.process.let_run(false)?;
        Ok(Found { sample, rate, chunks: (after - before) as f64 / elapsed })
    }
}

/// What an open loop found.
#[derive(Default)]
struct Open {
    /// From when a request was due until its answer was read; `None` if it was not in time.
    latencies: Vec<Option<Duration>>,
    /// From when a request was due until it was sent.
    lateness: Vec<Duration>,
}

struct Client {
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    /// Whether this thread has its core to itself.
    is_alone: bool,
    buffer: Vec<u8>,
}

struct Answer {
    connection: usize,
    due: Duration,
    read: Instant,
}

impl Client {
    /// Connects once for each dialogue, and has each connection answer a request.
    fn connect(address: SocketAddr, dialogues: &[Dialogue], is_alone: bool) -> Result<Self> {
        let poll = Poll::new()?;
        let connect = |(number, dialogue): (usize, &Dialogue)| -> io::Result<Connection> {
            let stream = Std::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE | Interest::WRITABLE)?;
            Ok(Connection::new(stream, dialogue.clone()))
        };
        let connections: io::Result<_> = dialogues.iter().enumerate().map(connect).collect();
        let connections = connections.context("cannot connect to a server")?;
        let (events, buffer) = (Events::with_capacity(EVENTS), vec![0; BUFFER]);
        let mut client = Client { poll, events, connections, is_alone, buffer };
        client.begin_everywhere()?;
        client.settle()?;
        Ok(client)
    }

    fn begin_everywhere(&mut self) -> Result<()> {
        self.connections.iter_mut().try_for_each(|connection| connection.begin(Duration::ZERO))
    }

    /// Sends a new request wherever one is answered, for `length`. The answers a second.
    fn closed(&mut self, length: Duration) -> Result<f64> {
        let (watch, mut answers) = (Stopwatch::start(), 0_u64);
        self.begin_everywhere()?;
        loop {
            let elapsed = watch.elapsed();
            if elapsed >= length {
                return Ok(answers as f64 / elapsed.as_secs_f64());
            }
            for answer in self.gather(length - elapsed)? {
                answers += 1;
                self.connections[answer.connection].begin(Duration::ZERO)?;
            }
        }
    }

    /// Sends requests when they are due, whatever has become of those before. Waits for the last answers for `limit` at most.
    fn open(&mut self, schedule: &Schedule, limit: Duration) -> Result<Open> {
        let (mut open, start) = (Open::default(), now());
        let mut arrivals = schedule.arrivals.iter().peekable();
        let (mut unanswered, end) = (schedule.arrivals.len(), schedule.length + limit);
        while unanswered > 0 && now() - start <= end {
            while let Some(arrival) = arrivals.next_if(|arrival| start + arrival.due <= now()) {
                if schedule.counts(arrival.due) {
                    open.lateness.push(now() - (start + arrival.due));
                }
                self.connections[arrival.connection].begin(arrival.due)?;
            }
            let next = arrivals.peek().map_or(end, |arrival| arrival.due);
            for answer in self.gather((start + next).saturating_duration_since(now()))? {
                unanswered -= 1;
                if schedule.counts(answer.due) {
                    open.latencies.push(Some(answer.read - (start + answer.due)));
                }
            }
        }
        open.latencies.resize(schedule.counted(), None);
        Ok(open)
    }

    /// Waits until all is answered.
    fn settle(&mut self) -> Result<()> {
        let watch = Stopwatch::start();
        loop {
            let waiting: usize = self.connections.iter().map(Connection::waiting).sum();
            if waiting == 0 {
                return Ok(());
            }
            if watch.elapsed() > PATIENCE {
                bail!("a server left {waiting} requests unanswered");
            }
            self.gather(Duration::from_millis(10))?;
        }
    }

    /// Writes and reads what can be. Waits for something to happen, `limit` at most, if others use this core too.
    fn gather(&mut self, limit: Duration) -> Result<Vec<Answer>> {
        let limit = if self.is_alone { Duration::ZERO } else { limit };
        match self.poll.poll(&mut self.events, Some(limit)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(error).context("the client cannot wait for events");
            }
            _ => {}
        }
        let mut answers = Vec::new();
        for event in &self.events {
            let connection = event.token().0;
            let due = self.connections[connection].serve(event, &mut self.buffer);
            let due = due.with_context(|| format!("connection {connection} to a server"))?;
            let read = now();
            answers.extend(due.into_iter().map(|due| Answer { connection, due, read }));
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests;
