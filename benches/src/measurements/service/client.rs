//! The client: all connections to one server, on the calling thread.
//!
//! It does not sleep while a window lasts, where it has a core to itself: how long the system takes to wake it would be in
//! every latency.

mod connection;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream as Std};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::cell::{CLOSED_LATENCY, EPOLLS, Found, LATENCY, LATENESS, Load, Server};
use super::process::Process;
use super::protocol::Dialogue;
use super::schedule::Schedule;
use super::server::{ADDRESS, Program, Setup};
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

/// A server with the client that talks to it.
struct Own {
    process: Process,
    client: Client,
    /// What the server writes for each answer.
    writes: f64,
}

pub(super) fn start(setup: Setup, load: &Load, pinning: &Pinning) -> Result<Box<dyn Server>> {
    let is_proxy = setup.program == Program::Proxy;
    let upstream = is_proxy.then(|| TcpListener::bind(ADDRESS)).transpose()?;
    let to = upstream.as_ref().map(TcpListener::local_addr).transpose()?;
    let (process, address) = Process::start(Setup { upstream: to, ..setup })?;
    let dialogues = setup.dialogues(load.seed, load.connections);
    let client = Client::connect(address, &dialogues, setup.members(), pinning.apart(), upstream)?;
    process.let_run(false)?;
    Ok(Box::new(Own { process, client, writes: if is_proxy { 2.0 } else { 1.0 } }))
}

impl Server for Own {
    fn window(&mut self, load: &Load, rate: Option<f64>, part: u64) -> Result<Found> {
        let Load { seed, connections, window, gap, .. } = *load;
        let client = &mut self.client;
        let schedule = rate.map(|rate| (rate, Schedule::draw(seed, part, (rate, gap), connections, window)));
        let ((sample, rate, answers), spent) = self.process.during(|| match schedule {
            None => {
                let (latencies, rate) = client.closed(window)?;
                let answers = latencies.len();
                let latencies = latencies.into_iter().map(Some);
                Ok((Sample::default().waits(CLOSED_LATENCY, latencies), rate, answers))
            }
            Some((rate, schedule)) => {
                let open = client.open(&schedule, LIMIT)?;
                let sample = Sample::default().waits(LATENCY, open.latencies);
                let sample = sample.waits(LATENESS, open.lateness.into_iter().map(Some));
                Ok((sample, rate, schedule.arrivals.len()))
            }
        })?;
        client.settle()?;
        self.process.let_run(false)?;
        let sample = sample.number(EPOLLS, spent.epolls / (answers as f64 * self.writes));
        Ok(Found { sample, rate, chunks: spent.chunks, cpu: spent.cpu / answers as f64 })
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
    groups: Vec<Group>,
    /// Connections of a group.
    members: usize,
    /// The upstream of a proxy, which sends back what comes: a stream for each connection.
    echoes: Vec<TcpStream>,
    /// Whether this thread has its core to itself.
    is_alone: bool,
    buffer: Vec<u8>,
}

/// Connections that all get the answer to a request of one: the members of a chat room. Elsewhere each is a group by itself.
#[derive(Clone, Default)]
struct Group {
    /// Requests so far.
    begun: usize,
    /// Answers to the last of them that have not come, in a closed loop.
    left: usize,
}

struct Answer {
    connection: usize,
    due: Duration,
    read: Instant,
}

impl Client {
    /// Connects once for each dialogue, and has each group of so many members answer a request.
    fn connect(
        address: SocketAddr,
        dialogues: &[Dialogue],
        members: usize,
        is_alone: bool,
        upstream: Option<TcpListener>,
    ) -> Result<Self> {
        let poll = Poll::new()?;
        let open = |stream: Std, number| -> io::Result<TcpStream> {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE | Interest::WRITABLE)?;
            Ok(stream)
        };
        let connect = |(number, dialogue): (usize, &Dialogue)| -> io::Result<Connection> {
            Ok(Connection::new(open(Std::connect(address)?, number)?, dialogue.clone()))
        };
        let connections: io::Result<_> = dialogues.iter().enumerate().map(connect).collect();
        let accept = |(number, upstream): (usize, &TcpListener)| open(upstream.accept()?.0, number);
        let all = dialogues.len();
        let echoes = (all..2 * all).zip(upstream.iter().cycle()).map(accept).collect::<io::Result<_>>();
        let (events, buffer) = (Events::with_capacity(EVENTS), vec![0; BUFFER]);
        let connections: Vec<_> = connections.context("cannot connect to a server")?;
        let groups = vec![Group::default(); connections.len() / members];
        let mut client =
            Client { poll, events, connections, groups, members, echoes: echoes?, is_alone, buffer };
        client.begin_everywhere()?;
        client.settle()?;
        Ok(client)
    }

    fn begin_everywhere(&mut self) -> Result<()> {
        (0..self.groups.len()).try_for_each(|group| self.begin(group, Duration::ZERO))
    }

    /// Has a member of a group send a request, each in its turn.
    fn begin(&mut self, group: usize, due: Duration) -> Result<()> {
        let Group { begun, left } = &mut self.groups[group];
        let members = &mut self.connections[group * self.members..][..self.members];
        let sender = &mut members[*begun % self.members];
        let dialogue = sender.dialogue();
        let (request, answer) = &dialogue[*begun / self.members % dialogue.len()];
        sender.send(request)?;
        members.iter_mut().for_each(|member| member.expect(answer, due));
        *begun += 1;
        *left = self.members;
        Ok(())
    }

    /// Sends a new request wherever one is answered, for `length`. How long the answers took, and how many there were a second.
    fn closed(&mut self, length: Duration) -> Result<(Vec<Duration>, f64)> {
        let (start, mut latencies) = (now(), Vec::new());
        self.begin_everywhere()?;
        loop {
            let elapsed = now() - start;
            if elapsed >= length {
                let rate = latencies.len() as f64 / elapsed.as_secs_f64();
                return Ok((latencies, rate));
            }
            for answer in self.gather(length - elapsed)? {
                latencies.push(answer.read - (start + answer.due));
                let group = answer.connection / self.members;
                self.groups[group].left -= 1;
                if self.groups[group].left == 0 {
                    self.begin(group, now() - start)?;
                }
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
                self.begin(arrival.connection, arrival.due)?;
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
            if let Some(echo) = connection.checked_sub(self.connections.len()) {
                send_back(&mut self.echoes[echo], &mut self.buffer).context("the upstream of a proxy")?;
                continue;
            }
            let due = self.connections[connection].serve(event, &mut self.buffer);
            let due = due.with_context(|| format!("connection {connection} to a server"))?;
            let read = now();
            answers.extend(due.into_iter().map(|due| Answer { connection, due, read }));
        }
        Ok(answers)
    }
}

/// Sends back what has come. A connection has one message under way, for which there is room in the stream and in the buffer.
fn send_back(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<()> {
    match stream.read(buffer) {
        Ok(read) => stream.write_all(&buffer[..read]),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
