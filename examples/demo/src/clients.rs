//! The clients: a thread for each connection, which sends on a schedule drawn beforehand.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::service::{ANSWER, REQUEST};
use crate::sides::Side;
use crate::store::{KEYS, ROW};

/// The connections to each service.
pub(crate) const CONNECTIONS: usize = 16;

/// Requests per second, of all connections together.
pub(crate) const OFFERED: u32 = 4_000;

/// How long requests come in a window.
pub(crate) const WINDOW: Duration = Duration::from_millis(200);

/// A service that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A window for one thread.
#[derive(Clone, Copy, Debug)]
struct Order {
    side: Side,
    seed: u64,
    begin: Instant,
}

/// What clients saw in a window.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) latencies: Vec<Duration>,
    pub(crate) answered: u64,
}

/// See the [module docs](self). The threads end when it is dropped.
#[derive(Debug)]
pub(crate) struct Clients {
    orders: Vec<mpsc::Sender<Order>>,
    seen: UnboundedReceiver<io::Result<Seen>>,
}

impl Clients {
    /// Clients with these connections: each to the service of each side. Answers count nanoseconds from `origin`.
    pub(crate) fn start(connections: Vec<[TcpStream; 2]>, origin: Instant) -> io::Result<Self> {
        let (tell, seen) = unbounded_channel();
        let mut orders = Vec::new();
        for (number, streams) in (0..).zip(connections) {
            for stream in &streams {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
            }
            let (order, ordered) = mpsc::channel();
            let tell = tell.clone();
            thread::Builder::new()
                .name(format!("client {number}"))
                .spawn(move || client(number, streams, origin, &ordered, &tell))?;
            orders.push(order);
        }
        Ok(Self { orders, seen })
    }

    /// Has a window of requests sent to one side, and waits until all that were sent are answered. The same seed gives the
    /// same arrivals.
    pub(crate) async fn window(&mut self, side: Side, seed: u64) -> io::Result<Seen> {
        let gone = || io::Error::other("a client's thread is gone");
        let order = Order { side, seed, begin: now() };
        for client in &self.orders {
            client.send(order).map_err(|_| gone())?;
        }
        let mut all = Seen::default();
        for _ in 0..self.orders.len() {
            let seen = self.seen.recv().await.ok_or_else(gone)??;
            all.latencies.extend(seen.latencies);
            all.answered += seen.answered;
        }
        Ok(all)
    }
}

#[allow(clippy::disallowed_methods, reason = "the demonstration measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) fn nanos_since(origin: Instant) -> u64 {
    now().saturating_duration_since(origin).as_nanos() as u64
}

#[allow(clippy::disallowed_methods, reason = "a load generator sends at given times")]
fn sleep(time: Duration) {
    thread::sleep(time);
}

fn client(
    number: u64,
    mut streams: [TcpStream; 2],
    origin: Instant,
    orders: &mpsc::Receiver<Order>,
    tell: &UnboundedSender<io::Result<Seen>>,
) {
    while let Ok(order) = orders.recv() {
        let random = Random(order.seed << 32 | number);
        let seen = send_all(&mut streams[order.side as usize], origin, order, random);
        if tell.send(seen).is_err() {
            return;
        }
    }
}

/// Sends a window's requests, each when it is due and the one before it is answered. What could not be sent counts with its wait.
///
/// A latency counts from when the request was due, or, where only this thread was late, from when it was sent. It ends where the
/// answer says that it was made, so that a thread that wakes up late adds nothing.
fn send_all(stream: &mut TcpStream, origin: Instant, order: Order, mut random: Random) -> io::Result<Seen> {
    let mut seen = Seen::default();
    let (mut due, mut answered) = (order.begin, order.begin);
    let end = order.begin + WINDOW;
    loop {
        due += random.gap();
        let key = random.key().to_le_bytes();
        if due >= end {
            return Ok(seen);
        }
        sleep(due.saturating_duration_since(now()));
        let is_behind = due < answered;
        if now() >= end {
            seen.latencies.extend(is_behind.then(|| end - due));
            continue;
        }
        let from = if is_behind { due } else { now() };
        let mut answer = [0; ANSWER];
        stream.write_all(&key)?;
        stream.read_exact(&mut answer).map_err(|error| io::Error::other(format!("no answer: {error}")))?;
        if answer[..REQUEST] != key {
            return Err(io::Error::other("an answer is of another key"));
        }
        let made = answer[ROW..].iter().rev().fold(0, |nanos, byte| nanos << 8 | u64::from(*byte));
        answered = origin + Duration::from_nanos(made);
        seen.latencies.push(answered.saturating_duration_since(from));
        seen.answered += 1;
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn key(&mut self) -> u64 {
        self.next() % KEYS
    }

    /// Between two arrivals of a Poisson process, at a connection's part of what is offered.
    fn gap(&mut self) -> Duration {
        let uniform = ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        Duration::from_secs(CONNECTIONS as u64).div_f64(f64::from(OFFERED)).mul_f64(-uniform.ln())
    }
}
