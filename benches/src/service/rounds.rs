//! The rounds of a cell: short windows of one service after another, in an order that favours none.
//!
//! All services of a cell are up at the same time, connected, and rest while another has its window. In every *round* every
//! service has two windows: in an order shuffled anew, then in the reverse of it. Both windows of a service are one sample,
//! and each sample is divided by the base's of the same round. All services have the same schedules in a round, and others
//! in the next.

use std::time::Duration;

use super::cell::Cell;
use super::options::Options;
use super::talk::Talk;
use crate::failure::Failure;
use crate::numbers::grouped;
use crate::pinning::{Pinning, Side};
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::tcp::child::Server;
use crate::tcp::client::Client;
use crate::tcp::contender::{Contender, order};
use crate::tcp::samples::{OpenSample, OpenSamples};
use crate::tcp::schedule::Schedule;

/// Connections to each service.
pub const CONNECTIONS: usize = 16;

/// The mean time between two requests of a connection.
pub const THINK_TIME: Duration = Duration::from_millis(2);

/// How long the last answers may take, beside compactors that go on.
const LIMIT: Duration = Duration::from_millis(500);

/// This part of a window, from its start on, does not count: what has rested has no backlog yet.
const LEAD_PART: u32 = 6;

/// Windows that a service has in a round.
const WINDOWS: u64 = 2;

/// What a window takes beside its length, and a service to be started, about.
const BETWEEN_WINDOWS: Duration = Duration::from_millis(10);
const START: Duration = Duration::from_millis(20);

/// What the rounds of a cell gave.
#[derive(Debug)]
pub struct Samples {
    /// How each service's host did its I/O.
    pub drivers: Vec<String>,
    /// By arm.
    pub open: Vec<OpenSamples>,
}

/// Requests a second, of all connections.
pub fn rate() -> f64 {
    CONNECTIONS as f64 / THINK_TIME.as_secs_f64()
}

/// How long all cells are going to take, in words.
pub fn expected(cells: &[Cell], options: &Options) -> String {
    let window = options.window() + BETWEEN_WINDOWS;
    let of_arm = START + window * (WINDOWS as u32 * (options.rounds() + 1));
    let all: Duration = cells.iter().map(|cell| of_arm * cell.arms.len() as u32).sum();
    let minutes = (all.as_secs_f64() / 60.0).ceil() as u64;
    let counted =
        |number: u64, what| format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" });
    format!("{}, about {}", counted(cells.len() as u64, "cell"), counted(minutes, "minute"))
}

/// Runs a cell.
///
/// # Errors
///
/// If a service cannot be started, a connection breaks, or an answer is wrong.
pub fn run(
    cell: &Cell,
    options: &Options,
    pinning: &Pinning,
    progress: &Progress,
) -> Result<Samples, Failure> {
    // Processes inherit the core of the thread that starts them, so this one is not pinned, and sleeps in `scope`.
    let start = |setup: super::setup::Setup| Server::start("service-server", &setup.written());
    let servers: Vec<Server> = cell.setups().map(start).collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            pinning.pin(Side::Load);
            Rounds::start(cell, options, pinning, servers)?.run(options, progress)
        });
        client.join().unwrap_or_else(|_| Err(Failure::run("the client panicked")))
    })
}

struct Rounds<'a> {
    cell: &'a Cell,
    seed: u64,
    window: Duration,
    contenders: Vec<Contender<Talk>>,
    order: Random,
    samples: Samples,
}

impl<'a> Rounds<'a> {
    fn start(
        cell: &'a Cell,
        options: &Options,
        pinning: &Pinning,
        servers: Vec<Server>,
    ) -> Result<Self, Failure> {
        let connect = |server: Server| {
            let talk = Talk::new(options.seed, CONNECTIONS);
            let client = Client::connect(server.address(), CONNECTIONS, talk, pinning.apart())?;
            Ok(Contender { server, client })
        };
        let contenders: Vec<Contender<Talk>> = servers.into_iter().map(connect).collect::<Result<_, _>>()?;
        let samples = Samples {
            drivers: contenders.iter().map(|contender| contender.server.driver().to_owned()).collect(),
            open: vec![OpenSamples::default(); contenders.len()],
        };
        let order = Random::new(options.seed, Purpose::Order, cell.part);
        Ok(Rounds { cell, seed: options.seed, window: options.window(), contenders, order, samples })
    }

    fn run(mut self, options: &Options, progress: &Progress) -> Result<Samples, Failure> {
        if !options.quick {
            // To warm up: it is not counted.
            self.round(u64::MAX)?;
        }
        for round in 0..options.rounds() {
            for (samples, sample) in self.round(round.into())?.iter().enumerate() {
                self.samples.open[samples].add(rate(), sample);
            }
            progress.advance();
        }
        Ok(self.samples)
    }

    /// The same schedule for every service, and another for every service's second window.
    fn round(&mut self, round: u64) -> Result<Vec<OpenSample>, Failure> {
        let schedules = [0, 1].map(|window| self.schedule(round.wrapping_mul(WINDOWS) | window));
        let mut samples = vec![OpenSample::default(); self.contenders.len()];
        let order = order(self.contenders.len(), 1, &mut self.order);
        for (turn, &place) in order.iter().enumerate() {
            let schedule = &schedules[turn / samples.len()];
            let (open, usage) = self.contenders[place].window(|client| client.open(schedule, LIMIT))?;
            samples[place].add(&open, usage);
        }
        Ok(samples)
    }

    /// Poisson: with a think time that is exponential on every connection all together are that.
    fn schedule(&self, window: u64) -> Schedule {
        let part = (self.cell.part << 40) | (window & 0xff_ffff_ffff);
        let lead = self.window / LEAD_PART;
        Schedule::draw(self.seed, part, rate(), CONNECTIONS, self.window).with_lead(lead)
    }
}
