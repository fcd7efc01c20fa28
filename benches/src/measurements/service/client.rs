//! The client: all connections to one server, on the calling thread.
//!
//! It does not sleep while a window lasts, where it has a core to itself: how long the system takes to wake it would be
//! in every latency.

mod connection;

use std::io;
use std::net::{SocketAddr, TcpStream as Std};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::dialogue::Dialogue;
use super::schedule::Schedule;
use crate::harness::Distribution;
use crate::stopwatch::{Stopwatch, now};
use connection::Connection;

/// Events taken at a time, so that what is due meanwhile is sent between them and not after.
const EVENTS: usize = 64;

/// Larger than what a connection can have under way as a rule.
const BUFFER: usize = 64 << 10;

/// Longest time until the server has answered everything, once its background rests.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Default)]
pub(super) struct Closed {
    pub answers: u64,
    pub elapsed: Duration,
}

#[derive(Default)]
pub(super) struct Open {
    /// From the intended arrival until the answer was read, in nanoseconds; without end if it was not in time.
    pub latencies: Distribution,
    pub lateness: Distribution,
    pub elapsed: Duration,
}

pub(super) struct Client {
    poll: Poll,
    connections: Vec<Connection>,
    dialogue: Rc<dyn Dialogue>,
    /// Whether this thread has its core to itself.
    alone: bool,
    buffer: Vec<u8>,
    /// When the requests were to be sent that the last event brought answers of.
    answered_now: Vec<u64>,
}

impl Client {
    pub(super) fn connect(
        address: SocketAddr,
        connections: usize,
        dialogue: Rc<dyn Dialogue>,
        alone: bool,
    ) -> Result<Self> {
        let poll = Poll::new()?;
        let connect = |number| -> io::Result<Connection> {
            let stream = Std::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE | Interest::WRITABLE)?;
            Ok(Connection::new(number, stream))
        };
        let connections = (0..connections).map(connect).collect::<io::Result<_>>();
        let connections = connections.context("cannot connect to a server")?;
        let (buffer, answered_now) = (vec![0; BUFFER], Vec::new());
        let mut client = Client { poll, connections, dialogue, alone, buffer, answered_now };
        client.begin_everywhere()?;
        client.settle()?;
        Ok(client)
    }

    fn begin_everywhere(&mut self) -> Result<()> {
        self.connections.iter_mut().try_for_each(|connection| connection.begin(0, &*self.dialogue))
    }

    /// Sends a new request wherever one has been answered, for `length`.
    pub(super) fn closed(&mut self, length: Duration) -> Result<Closed> {
        let mut events = Events::with_capacity(EVENTS);
        let watch = Stopwatch::start();
        self.begin_everywhere()?;
        let mut answers = 0;
        let elapsed = loop {
            let elapsed = watch.elapsed();
            if elapsed >= length {
                break elapsed;
            }
            self.wait(&mut events, length - elapsed)?;
            for event in &events {
                let number = self.serve(event)?;
                answers += self.answered_now.len() as u64;
                for _ in 0..self.answered_now.len() {
                    self.connections[number].begin(0, &*self.dialogue)?;
                }
            }
        };
        Ok(Closed { answers, elapsed })
    }

    /// Sends requests when they are due, whatever has become of those before. Waits for the last for `limit` at most.
    pub(super) fn open(&mut self, schedule: &Schedule, limit: Duration) -> Result<Open> {
        let mut events = Events::with_capacity(EVENTS);
        let mut open = Open::default();
        let start = now();
        let (mut sent, mut answered) = (0, 0);
        let all = schedule.arrivals.len();
        loop {
            let elapsed = self.send_due(schedule, start, &mut sent, &mut open.lateness)?;
            if answered == all || elapsed > schedule.length + limit {
                break;
            }
            let due = schedule.arrivals.get(sent).map(|next| Duration::from_nanos(next.at));
            let due = due.unwrap_or(schedule.length + limit);
            self.wait(&mut events, due.saturating_sub(elapsed))?;
            for event in &events {
                self.serve(event)?;
                let read = (now() - start).as_nanos() as u64;
                answered += self.answered_now.len();
                let counted = self.answered_now.iter().filter(|&&intended| schedule.counts(intended));
                counted.for_each(|intended| open.latencies.add_nanos(Some(read.saturating_sub(*intended))));
                self.send_due(schedule, start, &mut sent, &mut open.lateness)?;
            }
        }
        open.elapsed = now() - start;
        (open.latencies.count()..schedule.counted()).for_each(|_| open.latencies.add_nanos(None));
        Ok(open)
    }

    pub(super) fn settle(&mut self) -> Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let watch = Stopwatch::start();
        loop {
            let waiting: usize = self.connections.iter().map(Connection::waiting).sum();
            if waiting == 0 {
                return Ok(());
            }
            if watch.elapsed() > PATIENCE {
                bail!("a server left {waiting} requests unanswered");
            }
            self.wait(&mut events, Duration::from_millis(10))?;
            for event in &events {
                self.serve(event)?;
            }
        }
    }

    fn send_due(
        &mut self,
        schedule: &Schedule,
        start: Instant,
        sent: &mut usize,
        lateness: &mut Distribution,
    ) -> Result<Duration> {
        loop {
            let elapsed = now() - start;
            let nanos = elapsed.as_nanos() as u64;
            match schedule.arrivals.get(*sent) {
                Some(next) if next.at <= nanos => {
                    if schedule.counts(next.at) {
                        lateness.add_nanos(Some(nanos - next.at));
                    }
                    self.connections[next.connection].begin(next.at, &*self.dialogue)?;
                    *sent += 1;
                }
                _ => return Ok(elapsed),
            }
        }
    }

    /// Gathers what has happened; waits for something to happen, `limit` at most, if others use this core too.
    fn wait(&mut self, events: &mut Events, limit: Duration) -> Result<()> {
        let limit = if self.alone { Duration::ZERO } else { limit };
        match self.poll.poll(events, Some(limit)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                Err(error).context("the client cannot wait for events")
            }
            _ => Ok(()),
        }
    }

    /// Writes and reads what can be on the connection of an event. Its number; what is answered is in `answered_now`.
    fn serve(&mut self, event: &Event) -> Result<usize> {
        let number = event.token().0;
        let connection = &mut self.connections[number];
        self.answered_now.clear();
        if event.is_writable() {
            connection.write(&*self.dialogue)?;
        }
        // What broke is found out by reading.
        if event.is_readable() || event.is_error() {
            connection.read(&*self.dialogue, &mut self.buffer, &mut self.answered_now)?;
        }
        // A read that fetches the last that the server said does not tell that it was the last, and no other event will.
        if event.is_read_closed() {
            return Err(connection.closed());
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests;
