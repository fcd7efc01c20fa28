//! The client: all connections to one server, on the calling thread.
//!
//! It does not sleep while a window lasts, where it has a core to itself: how long the system takes to wake it would be
//! in every latency.

use std::net::{SocketAddr, TcpStream as Std};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::connection::Connection;
use super::dialogue::Dialogue;
use super::schedule::Schedule;
use crate::failure::Failure;
use crate::stats::spread::Values;
use crate::stopwatch::{Stopwatch, now};

/// Events taken at a time, so that what is due meanwhile is sent between them and not after.
const EVENTS: usize = 64;

/// Larger than what a connection can have under way as a rule.
const BUFFER: usize = 64 << 10;

/// Longest time until the server has answered everything, once its background rests.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a closed loop found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closed {
    /// Messages that came back.
    pub echoes: u64,
    /// In so much time.
    pub elapsed: Duration,
}

/// What an open loop found.
#[derive(Clone, Debug, Default)]
pub struct Open {
    /// From the intended arrival until the echo was read, in nanoseconds; without end if it was not in time.
    pub latencies: Values,
    /// From the intended arrival until the message was sent.
    pub lateness: Values,
    /// From the first arrival that could be until the last echo.
    pub elapsed: Duration,
}

/// All connections to one server.
#[derive(Debug)]
pub struct Client<D> {
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    dialogue: D,
    /// Whether this thread has its core to itself.
    alone: bool,
    ready: Vec<Ready>,
    buffer: Vec<u8>,
    echoed: Vec<u64>,
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug)]
struct Ready {
    number: usize,
    readable: bool,
    writable: bool,
    /// The server will not say any more. A read that fetches the last it said does not tell, and no other event will.
    closed: bool,
}

impl<D: Dialogue> Client<D> {
    /// Connects, and has a message answered on each connection.
    ///
    /// # Errors
    ///
    /// If a connection cannot be made, or a wrong answer comes.
    pub fn connect(
        address: SocketAddr,
        connections: usize,
        dialogue: D,
        alone: bool,
    ) -> Result<Self, Failure> {
        let refused = |error| Failure::run(format!("cannot connect to a server: {error}"));
        let poll = Poll::new().map_err(refused)?;
        let mut client = Client {
            poll,
            events: Events::with_capacity(EVENTS),
            connections: Vec::with_capacity(connections),
            dialogue,
            alone,
            ready: Vec::with_capacity(EVENTS),
            buffer: vec![0; BUFFER],
            echoed: Vec::new(),
        };
        for number in 0..connections {
            client.add(number, Std::connect(address).map_err(refused)?)?;
        }
        for connection in &mut client.connections {
            connection.begin(0, &client.dialogue)?;
        }
        client.settle()?;
        Ok(client)
    }

    fn add(&mut self, number: usize, stream: Std) -> Result<(), Failure> {
        let connect = || {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut stream, Token(number), interest)?;
            Ok(stream)
        };
        let stream = connect()
            .map_err(|error: std::io::Error| Failure::run(format!("cannot set up a connection: {error}")))?;
        self.connections.push(Connection::new(number, stream));
        Ok(())
    }

    /// Sends a new message wherever one has come back, for `length`.
    ///
    /// # Errors
    ///
    /// If a connection breaks, or something else comes back than was to.
    pub fn closed(&mut self, length: Duration) -> Result<Closed, Failure> {
        let watch = Stopwatch::start();
        for connection in &mut self.connections {
            connection.begin(0, &self.dialogue)?;
        }
        let mut echoes = 0;
        let elapsed = loop {
            let elapsed = watch.elapsed();
            if elapsed >= length {
                break elapsed;
            }
            self.wait(length - elapsed)?;
            for index in 0..self.ready.len() {
                let number = self.serve(index)?;
                echoes += self.echoed.len() as u64;
                for _ in 0..self.echoed.len() {
                    self.connections[number].begin(0, &self.dialogue)?;
                }
            }
        };
        Ok(Closed { echoes, elapsed })
    }

    /// Sends messages when they are due, whatever has become of those before, and waits for all of them, after the
    /// last for `limit` at most.
    ///
    /// # Errors
    ///
    /// If a connection breaks, or something else comes back than was to.
    pub fn open(&mut self, schedule: &Schedule, limit: Duration) -> Result<Open, Failure> {
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
            self.wait(due.saturating_sub(elapsed))?;
            for index in 0..self.ready.len() {
                self.serve(index)?;
                let read = (now() - start).as_nanos() as u64;
                answered += self.echoed.len();
                let counted = self.echoed.iter().filter(|&&intended| schedule.counts(intended));
                counted.for_each(|intended| open.latencies.add_nanos(Some(read.saturating_sub(*intended))));
                self.send_due(schedule, start, &mut sent, &mut open.lateness)?;
            }
        }
        open.elapsed = now() - start;
        (open.latencies.count()..schedule.counted()).for_each(|_| open.latencies.add_nanos(None));
        Ok(open)
    }

    /// Waits until everything is back.
    ///
    /// # Errors
    ///
    /// If it is not for 20 s, or a connection breaks.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let watch = Stopwatch::start();
        while self.connections.iter().any(|connection| connection.waiting() > 0) {
            if watch.elapsed() > PATIENCE {
                let waiting: usize = self.connections.iter().map(Connection::waiting).sum();
                return Err(Failure::run(format!("a server left {waiting} messages unanswered")));
            }
            self.wait(Duration::from_millis(10))?;
            for index in 0..self.ready.len() {
                self.serve(index)?;
            }
        }
        Ok(())
    }

    /// Sends what is due. The time since `start`.
    fn send_due(
        &mut self,
        schedule: &Schedule,
        start: Instant,
        sent: &mut usize,
        lateness: &mut Values,
    ) -> Result<Duration, Failure> {
        loop {
            let elapsed = now() - start;
            let nanos = elapsed.as_nanos() as u64;
            match schedule.arrivals.get(*sent) {
                Some(next) if next.at <= nanos => {
                    if schedule.counts(next.at) {
                        lateness.add_nanos(Some(nanos - next.at));
                    }
                    self.connections[next.connection].begin(next.at, &self.dialogue)?;
                    *sent += 1;
                }
                _ => return Ok(elapsed),
            }
        }
    }

    /// Gathers what has happened; waits for something to happen, `limit` at most, if others use this core too.
    fn wait(&mut self, limit: Duration) -> Result<(), Failure> {
        let limit = if self.alone { Duration::ZERO } else { limit };
        match self.poll.poll(&mut self.events, Some(limit)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                return Err(Failure::run(format!("the client cannot wait for events: {error}")));
            }
            _ => {}
        }
        let events = self.events.iter();
        self.ready.clear();
        self.ready.extend(events.map(|event| Ready {
            number: event.token().0,
            // What broke is found out by reading.
            readable: event.is_readable() || event.is_error(),
            writable: event.is_writable(),
            closed: event.is_read_closed(),
        }));
        Ok(())
    }

    /// Writes and reads what can be on a connection that something happened to. Its number; what is back is in `echoed`.
    fn serve(&mut self, index: usize) -> Result<usize, Failure> {
        let Ready { number, readable, writable, closed } = self.ready[index];
        let connection = &mut self.connections[number];
        self.echoed.clear();
        if writable {
            connection.write(&self.dialogue)?;
        }
        if readable {
            connection.read(&self.dialogue, &mut self.buffer, &mut self.echoed)?;
        }
        if closed {
            return Err(connection.closed());
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests;
