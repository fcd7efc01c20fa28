//! The members of a chat room, each of which says something when all have heard what it said before.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream as Std};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::{BUFFER, EVENTS, PATIENCE};
use crate::harness::{Pinning, Sample};
use crate::measurements::service::cell::{CLOSED_LATENCY, Found, Load, Server};
use crate::measurements::service::process::Process;
use crate::measurements::service::protocol::WELCOME;
use crate::measurements::service::server::Setup;
use crate::stopwatch::now;

/// Bytes of a message.
const MESSAGE: usize = 32;

struct Own {
    process: Process,
    room: Room,
}

pub(in super::super) fn start(setup: Setup, load: &Load, pinning: &Pinning) -> Result<Box<dyn Server>> {
    let (process, address) = Process::start(setup)?;
    let mut room = Room::connect(address, load.connections, pinning.apart())?;
    room.talk(Duration::ZERO)?;
    process.let_run(false)?;
    Ok(Box::new(Own { process, room }))
}

impl Server for Own {
    fn window(&mut self, load: &Load, _rate: Option<f64>, _part: u64) -> Result<Found> {
        let room = &mut self.room;
        let ((latencies, elapsed), spent) = self.process.during(|| room.talk(load.window))?;
        self.process.let_run(false)?;
        let deliveries = latencies.len() as f64;
        Ok(Found {
            sample: Sample::default().waits(CLOSED_LATENCY, latencies.into_iter().map(Some)),
            rate: deliveries / elapsed.as_secs_f64(),
            chunks: spent.chunks,
            cpu: spent.cpu / deliveries,
        })
    }
}

struct Room {
    poll: Poll,
    events: Events,
    members: Vec<Member>,
    is_alone: bool,
    buffer: Vec<u8>,
}

struct Member {
    stream: TcpStream,
    /// The beginning of a message.
    heard: Vec<u8>,
    /// How often it has spoken, and what it said last, and when.
    spoken: usize,
    said: String,
    at: Instant,
    /// Members that have not heard that.
    left: usize,
}

impl Room {
    /// Everybody is in when this returns.
    fn connect(address: SocketAddr, members: usize, is_alone: bool) -> Result<Self> {
        let poll = Poll::new()?;
        let enter = |number| -> io::Result<Member> {
            let mut stream = Std::connect(address)?;
            stream.set_nodelay(true)?;
            stream.read_exact(&mut [0; WELCOME.len()])?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE)?;
            Ok(Member { stream, heard: Vec::new(), spoken: 0, said: String::new(), at: now(), left: 0 })
        };
        let members: io::Result<_> = (0..members).map(enter).collect();
        let members = members.context("cannot enter a chat room")?;
        let (events, buffer) = (Events::with_capacity(EVENTS), vec![0; BUFFER]);
        Ok(Room { poll, events, members, is_alone, buffer })
    }

    /// Has all speak for so long, and once at least. How long each delivery took, and how long all of them.
    fn talk(&mut self, length: Duration) -> Result<(Vec<Duration>, Duration)> {
        let (start, mut latencies) = (now(), Vec::new());
        (0..self.members.len()).try_for_each(|member| self.speak(member))?;
        while self.members.iter().any(|member| member.left > 0) {
            ensure!(now() - start < length + PATIENCE, "a chat room left messages undelivered");
            let limit = if self.is_alone { Duration::ZERO } else { Duration::from_millis(10) };
            self.poll.poll(&mut self.events, Some(limit))?;
            let tokens: Vec<usize> = self.events.iter().map(|event| event.token().0).collect();
            for member in tokens {
                for (speaker, latency) in self.hear(member)? {
                    latencies.push(latency);
                    if self.members[speaker].left == 0 && now() - start < length {
                        self.speak(speaker)?;
                    }
                }
            }
        }
        Ok((latencies, now() - start))
    }

    fn speak(&mut self, speaker: usize) -> Result<()> {
        let all = self.members.len();
        let member = &mut self.members[speaker];
        member.spoken += 1;
        member.said = format!("{speaker:>7} {:>23}\n", member.spoken);
        (member.at, member.left) = (now(), all);
        // It has one message under way, for which there is room.
        Ok(member.stream.write_all(member.said.as_bytes())?)
    }

    /// Reads what has come to a member: who said it, and how long it was on its way.
    fn hear(&mut self, member: usize) -> Result<Vec<(usize, Duration)>> {
        loop {
            let Member { stream, heard, .. } = &mut self.members[member];
            match stream.read(&mut self.buffer) {
                Ok(bytes) => {
                    ensure!(bytes > 0, "a chat room closed a connection");
                    heard.extend_from_slice(&self.buffer[..bytes]);
                    if bytes < self.buffer.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        let read = now();
        let whole = self.members[member].heard.len() / MESSAGE * MESSAGE;
        let messages: Vec<u8> = self.members[member].heard.drain(..whole).collect();
        messages.chunks(MESSAGE).map(|message| self.delivered(message, read)).collect()
    }

    fn delivered(&mut self, message: &[u8], read: Instant) -> Result<(usize, Duration)> {
        let text = str::from_utf8(message)?;
        let speaker = text.split_whitespace().next().and_then(|number| number.parse::<usize>().ok());
        let said = speaker.and_then(|speaker| Some((speaker, self.members.get_mut(speaker)?)));
        let (speaker, member) = said.context("a chat room delivers what nobody said")?;
        ensure!(member.said == text && member.left > 0, "a chat room delivers what was not said");
        member.left -= 1;
        Ok((speaker, read - member.at))
    }
}
