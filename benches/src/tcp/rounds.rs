//! The rounds of a cell: short windows of one server after another, in an order that favours none.
//!
//! All servers of a cell are up at the same time, connected, and rest while another has its window. In every *round*, and
//! for each loop in turn, every server has four windows: in an order shuffled anew, then in the reverse of it, and this
//! twice, so that a machine that grows faster or slower meanwhile does so for all. A server's windows of a round are one
//! sample, and each sample is divided by the first server's of the same round. The rate of a round's open loops follows from its own
//! closed loops, so it has the machine's speed of the moment.

use std::time::Duration;

use super::cell::Cell;
use super::options::Options;
use super::samples::{ClosedSample, OpenSample, OpenSamples, Samples};
use crate::failure::Failure;
use crate::harness::rounds::in_balance;
use crate::pinning::{Pinning, Side};
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::serving::child::Server;
use crate::serving::client::Client;
use crate::serving::contender::Contender;
use crate::serving::pattern::Pattern;
use crate::serving::schedule::Schedule;
use crate::stopwatch::Stopwatch;

/// Rounds of a cell, if nobody says otherwise.
const ROUNDS: u32 = 40;
const QUICK_ROUNDS: u32 = 2;

/// Fewer rounds than this give no interval worth printing.
const FEWEST_ROUNDS: u32 = 8;

/// When this is over no further round is started, unless somebody gives a number.
const TIME_LIMIT: Duration = Duration::from_secs(55);

/// Windows of everyone in a round.
const TURNS: usize = 4;

/// How long the last messages of an open loop may take, beside a background that goes on.
const LIMIT: Duration = Duration::from_millis(500);

/// Runs a cell.
///
/// # Errors
///
/// If a server cannot be started, a connection breaks, or an echo is not what was sent.
pub fn run(cell: &Cell, options: &Options, pinning: &Pinning) -> Result<Samples, Failure> {
    // Processes inherit the core of the thread that starts them, so this one is not pinned, and sleeps in `scope`.
    let servers: Vec<Server> = cell
        .arms
        .iter()
        .map(|arm| Server::start("tcp-server", &arm.setup.written()))
        .collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            pinning.pin(Side::Load);
            Rounds::start(cell, options, pinning, servers)?.run(options)
        });
        client.join().unwrap_or_else(|_| Err(Failure::run("the client panicked")))
    })
}

struct Rounds<'a> {
    cell: &'a Cell,
    seed: u64,
    contenders: Vec<Contender>,
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
        let (connections, bytes) = (cell.shape.connections as usize, cell.shape.bytes as usize);
        let connect = |server: Server| {
            let pattern = Pattern::new(options.seed, bytes);
            let client = Client::connect(server.address(), connections, pattern, pinning.apart())?;
            Ok(Contender { server, client })
        };
        let contenders: Vec<Contender> = servers.into_iter().map(connect).collect::<Result<_, _>>()?;
        let arms = contenders.len();
        let samples = Samples {
            drivers: contenders.iter().map(|contender| contender.server.driver().to_owned()).collect(),
            closed: vec![Vec::new(); arms],
            open: vec![vec![OpenSamples::default(); arms]; cell.loads.len()],
        };
        let order = Random::new(options.seed, Purpose::Order, cell.part);
        Ok(Rounds { cell, seed: options.seed, contenders, order, samples })
    }

    fn run(mut self, options: &Options) -> Result<Samples, Failure> {
        let number = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
        let progress = Progress::start(self.cell.shape.section.title(), u64::from(number));
        progress.say(self.cell.title());
        if !options.quick {
            // To warm up: it is not counted.
            self.closed_loops()?;
        }
        let watch = Stopwatch::start();
        for round in 0..number {
            let enough = round >= FEWEST_ROUNDS && watch.elapsed() > TIME_LIMIT;
            if options.rounds.is_none() && enough {
                break;
            }
            self.round(round)?;
            progress.advance();
        }
        progress.finish();
        Ok(self.samples)
    }

    fn round(&mut self, round: u32) -> Result<(), Failure> {
        let closed = self.closed_loops()?;
        let pace = pace(&closed, self.cell.has_background());
        for (samples, sample) in self.samples.closed.iter_mut().zip(closed) {
            samples.push(sample);
        }
        for place in 0..self.cell.loads.len() {
            let rate = pace * f64::from(self.cell.loads[place]) / 100.0;
            let open = self.open_loops(rate, u64::from(round) << 8 | place as u64)?;
            for (samples, sample) in self.samples.open[place].iter_mut().zip(open) {
                samples.add(rate, &sample);
            }
        }
        Ok(())
    }

    fn closed_loops(&mut self) -> Result<Vec<ClosedSample>, Failure> {
        let mut samples = vec![ClosedSample::default(); self.contenders.len()];
        for place in in_balance(self.contenders.len(), TURNS, &mut self.order) {
            let length = self.cell.window;
            let (closed, usage) = self.contenders[place].window(|client| client.closed(length))?;
            samples[place].add(closed, usage);
        }
        Ok(samples)
    }

    /// The same schedule for everyone, another for everyone's second window, and so on.
    fn open_loops(&mut self, rate: f64, part: u64) -> Result<Vec<OpenSample>, Failure> {
        let connections = self.cell.shape.connections as usize;
        let windows = TURNS as u64;
        let draw = |window| {
            let part = (self.cell.part << 40) | (part * windows + window);
            Schedule::draw(self.seed, part, rate, connections, self.cell.window)
        };
        let schedules: Vec<Schedule> = (0..windows).map(draw).collect();
        let mut samples = vec![OpenSample::default(); self.contenders.len()];
        let order = in_balance(self.contenders.len(), TURNS, &mut self.order);
        for (turn, &place) in order.iter().enumerate() {
            let schedule = &schedules[turn / samples.len()];
            let (open, usage) = self.contenders[place].window(|client| client.open(schedule, LIMIT))?;
            samples[place].add(&open, usage);
        }
        Ok(samples)
    }
}

/// What the open loops' rates are parts of: what the slowest server does, or, beside a background, what the first does,
/// which has none.
fn pace(closed: &[ClosedSample], has_background: bool) -> f64 {
    let rates = closed.iter().map(|sample| sample.closed.echoes as f64 / sample.closed.elapsed.as_secs_f64());
    let counted = if has_background { 1 } else { closed.len() };
    rates.take(counted).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::client::Closed;
    use crate::serving::command::Usage;

    fn sample(echoes: u64) -> ClosedSample {
        let closed = Closed { echoes, elapsed: Duration::from_secs(2) };
        ClosedSample { closed, usage: Usage::default() }
    }

    #[test]
    fn the_slowest_sets_the_pace_unless_there_is_a_background() {
        let samples = [sample(200), sample(100), sample(300)];
        assert_eq!(pace(&samples, false), 50.0);
        assert_eq!(pace(&samples, true), 100.0);
    }
}
