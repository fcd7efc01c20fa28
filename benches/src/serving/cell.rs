//! A cell: servers that are compared with each other, under the same loads.
//!
//! All servers of a cell are up at the same time, connected, and rest while another has its window. In every round, and for
//! each loop in turn, every server has several windows. The rate of a round's open loops may follow from its own closed
//! loops, so that it has the machine's speed of the moment.

use std::time::Duration;

use serde::Serialize;

use super::child::Server;
use super::client::{Client, Closed};
use super::dialogue::Dialogue;
use super::schedule::Schedule;
use super::server::{Command, Usage};
use crate::failure::Failure;
use crate::harness::{Experiment, Pinning, Rounds, Sample, Side, Window, report};

pub(crate) const ECHO_RATE: &str = "echo_rate";
/// CPU time of the server's process per message in closed loops, where it has no background.
pub(crate) const CPU_PER_ECHO: &str = "cpu_ns_per_echo";
/// CPU time of the server's process in closed loops, as a part of one core's.
pub(crate) const CPU_USED: &str = "cpu_used";
/// By load: messages a second that were to be sent.
pub(crate) const MESSAGE_RATE: &str = "message_rate";
pub(crate) const LATENCY: &str = "latency_ns";
pub(crate) const LATENESS: &str = "lateness_ns";
pub(crate) const DRIVER: &str = "driver";

/// How long the last answers of an open loop may take, beside a background that goes on.
const LIMIT: Duration = Duration::from_millis(500);
const BETWEEN_WINDOWS: Duration = Duration::from_millis(10);

pub(crate) struct Cell<S, P, D> {
    pub title: String,
    pub shape: S,
    pub server: &'static str,
    pub arms: Vec<Arm<P>>,
    /// What a client says to a server of such a seed and shape.
    pub dialogue: fn(u64, &S) -> D,
    pub connections: usize,
    pub loops: Vec<Loop>,
    pub window: Duration,
    /// So long from the start of an open loop nothing counts.
    pub lead: Duration,
    pub turns: usize,
    pub rounds: Rounds,
    /// The figure of what a background does a second, and the place of the arm with which it is compared.
    pub background: (&'static str, usize),
    pub seed: u64,
    pub part: u64,
    pub pinning: Pinning,
    /// By arm, once they are started.
    pub running: Vec<Running<D>>,
}

#[derive(Clone)]
pub(crate) struct Arm<P> {
    pub key: String,
    pub title: String,
    pub setup: P,
    pub has_background: bool,
}

pub(crate) enum Loop {
    /// Each connection has one message under way.
    Closed,
    /// Messages are sent at so many percent of the pace of the closed loops before.
    AtLoad(u32),
    AtRate(f64),
}

pub(crate) struct Running<D> {
    server: Server,
    client: Client<D>,
    /// What the client found in the closed loops of the round.
    closed: Closed,
}

/// The key of a figure or a distribution of the open loops at a load.
pub(crate) fn at_load(load: u32, figure: &str) -> String {
    format!("load_{load}_{figure}")
}

impl<S, P, D: Dialogue> Cell<S, P, D> {
    pub(crate) fn sockets(&self) -> u64 {
        (self.arms.len() * self.connections) as u64
    }

    /// Has a window, in which the server's background may run. What the client found, and what the server used up.
    fn window<T>(
        &mut self,
        arm: usize,
        run: impl FnOnce(&mut Client<D>) -> Result<T, Failure>,
    ) -> Result<(T, Usage), Failure> {
        let Running { server, client, .. } = &mut self.running[arm];
        let before = server.command(&Command::Go)?;
        let found = run(client)?;
        let after = server.command(&Command::Stop)?;
        client.settle()?;
        let cpu = after.cpu.saturating_sub(before.cpu);
        Ok((found, Usage { cpu, work: after.work - before.work }))
    }

    fn closed_loop(&mut self, Window { arm, turn, .. }: Window) -> Result<Sample, Failure> {
        let length = self.window;
        let (closed, usage) = self.window(arm, |client| client.closed(length))?;
        let of_round = &mut self.running[arm].closed;
        if turn == 0 {
            *of_round = Closed::default();
        }
        of_round.echoes += closed.echoes;
        of_round.elapsed += closed.elapsed;
        let (echoes, elapsed) = (closed.echoes as f64, closed.elapsed.as_secs_f64());
        let sample = Sample::default().with_rate(ECHO_RATE, echoes, elapsed).with_rate(
            CPU_USED,
            usage.cpu.as_secs_f64(),
            elapsed,
        );
        Ok(match self.arms[arm].has_background {
            false => sample.with_rate(CPU_PER_ECHO, usage.cpu.as_nanos() as f64, echoes.max(1.0)),
            true => sample.with_rate(self.background.0, usage.work as f64, elapsed),
        })
    }

    /// An open loop of `rate` messages a second. The keys of its figures begin with `prefix`.
    fn open_loop(&mut self, window: Window, rate: f64, prefix: &str) -> Result<Sample, Failure> {
        let schedule = self.schedule(window, rate);
        let (open, usage) = self.window(window.arm, |client| client.open(&schedule, LIMIT))?;
        let key = |figure: &str| format!("{prefix}{figure}");
        let sample = Sample::default()
            .with_values(key(LATENCY), open.latencies)
            .with_values(key(LATENESS), open.lateness);
        Ok(match self.arms[window.arm].has_background {
            false => sample,
            true => sample.with_rate(key(self.background.0), usage.work as f64, open.elapsed.as_secs_f64()),
        })
    }

    /// The same schedule for all arms, another for their second windows, and so on.
    fn schedule(&self, Window { round, phase, turn, .. }: Window, rate: f64) -> Schedule {
        let window = round.wrapping_mul(self.turns as u64) | turn as u64;
        let part = (self.part << 40) | ((phase as u64) << 32) | (window & 0xffff_ffff);
        let drawn = Schedule::draw(self.seed, part, rate, self.connections, self.window);
        Schedule { lead: self.lead, ..drawn }
    }
}

/// What the open loops' rates are parts of: what the slowest server does that has no background.
fn pace(closed: impl Iterator<Item = (bool, Closed)>) -> f64 {
    let alone = closed.filter(|(has_background, _)| !has_background);
    let rates = alone.map(|(_, closed)| closed.echoes as f64 / closed.elapsed.as_secs_f64());
    rates.fold(f64::INFINITY, f64::min)
}

impl<S: Clone, P: Serialize, D: Dialogue> Experiment<S> for Cell<S, P, D> {
    /// Starts all servers, and then the connections to each.
    fn start(&mut self) -> Result<(), Failure> {
        let servers = self.arms.iter().map(|arm| Server::start(self.server, &arm.setup));
        for server in servers.collect::<Result<Vec<_>, _>>()? {
            let dialogue = (self.dialogue)(self.seed, &self.shape);
            let (address, alone) = (server.listening.address, self.pinning.apart());
            let client = Client::connect(address, self.connections, dialogue, alone)?;
            self.running.push(Running { server, client, closed: Closed::default() });
        }
        Ok(())
    }

    fn cells(&self) -> Vec<report::Cell<S>> {
        let named = self.arms.iter().map(|arm| (arm.key.clone(), arm.title.clone()));
        let mut arms = report::arms(named);
        for (arm, running) in arms.iter_mut().zip(&self.running) {
            arm.facts.insert(DRIVER.to_owned(), running.server.listening.driver.clone());
        }
        vec![report::Cell::new(self.title.clone(), self.shape.clone(), arms)]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        match self.loops[window.phase] {
            Loop::Closed => self.closed_loop(*window),
            Loop::AtLoad(load) => {
                let closed = self.arms.iter().zip(&self.running);
                let pace = pace(closed.map(|(arm, running)| (arm.has_background, running.closed)));
                let rate = pace * f64::from(load) / 100.0;
                let sample = self.open_loop(*window, rate, &at_load(load, ""))?;
                Ok(sample.with_number(at_load(load, MESSAGE_RATE), rate))
            }
            Loop::AtRate(rate) => self.open_loop(*window, rate, ""),
        }
    }

    fn rounds(&self) -> Rounds {
        self.rounds
    }

    fn side(&self) -> Side {
        Side::Load
    }

    fn base<'a>(&self, cell: &'a report::Cell<S>, figure: &str) -> Option<&'a str> {
        let (background, base) = self.background;
        let base = if figure.ends_with(background) { base } else { 0 };
        cell.arms.get(base).map(|arm| arm.key.as_str())
    }

    fn phases(&self) -> usize {
        self.loops.len()
    }

    fn turns(&self) -> usize {
        self.turns
    }

    fn round_takes(&self) -> Option<Duration> {
        let windows = self.turns * self.arms.len() * self.loops.len();
        self.rounds.limit.is_none().then(|| (self.window + BETWEEN_WINDOWS) * windows as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_sets_the_pace_unless_it_has_a_background() {
        let closed = |echoes| Closed { echoes, elapsed: Duration::from_secs(2) };
        let found = |background| [(false, closed(200)), (background, closed(100)), (false, closed(300))];
        assert_eq!([false, true].map(|background| pace(found(background).into_iter())), [50.0, 100.0]);
    }
}
