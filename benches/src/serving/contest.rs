//! The servers of a cell, and the windows that they have in turn.

use std::time::Duration;

use serde::Serialize;

use super::child::Server;
use super::client::Client;
use super::dialogue::Dialogue;
use super::schedule::Schedule;
use super::server::{Command, Usage};
use crate::failure::Failure;
use crate::harness::pinning::Pinning;
use crate::harness::report;
use crate::harness::sample::Sample;

/// From the intended arrival of a message until its answer.
pub(crate) const LATENCY: &str = "latency_ns";

/// From the intended arrival of a message until it was sent.
pub(crate) const LATENESS: &str = "lateness_ns";

/// How a server's host does its I/O.
pub(crate) const DRIVER: &str = "driver";

/// How long the last answers of an open loop may take, beside a background that goes on.
const LIMIT: Duration = Duration::from_millis(500);

/// A server that is compared.
#[derive(Clone)]
pub(crate) struct Arm<S> {
    pub key: String,
    pub title: String,
    pub setup: S,
}

/// The servers of a cell. All are up at the same time, connected, and rest while another has its window.
pub(crate) struct Contest<S, D> {
    pub arms: Vec<Arm<S>>,
    /// Connections to each server.
    pub connections: usize,
    /// The length of a window.
    pub window: Duration,
    pub seed: u64,
    /// What tells this cell's random numbers from those of others.
    pub part: u64,
    pub pinning: Pinning,
    /// By arm, once they are started.
    pub running: Vec<(Server, Client<D>)>,
}

impl<S: Serialize, D: Dialogue> Contest<S, D> {
    /// Starts all servers, and then the connections to each. To be called on a thread that is not pinned.
    pub(crate) fn start(&mut self, subcommand: &str, dialogue: impl Fn() -> D) -> Result<(), Failure> {
        let servers = self.arms.iter().map(|arm| Server::start(subcommand, &arm.setup));
        let servers = servers.collect::<Result<Vec<_>, _>>()?;
        for server in servers {
            let address = server.listening.address;
            let client = Client::connect(address, self.connections, dialogue(), self.pinning.apart())?;
            self.running.push((server, client));
        }
        Ok(())
    }

    /// The arms as a report has them, without figures.
    pub(crate) fn reported(&self) -> Vec<report::Arm> {
        let named = self.arms.iter().map(|arm| (arm.key.clone(), arm.title.clone()));
        let mut arms = report::arms(named);
        for (arm, (server, _)) in arms.iter_mut().zip(&self.running) {
            arm.facts.insert(DRIVER.to_owned(), server.listening.driver.clone());
        }
        arms
    }

    /// The messages of a window. Those of the same number are the same for all arms.
    pub(crate) fn schedule(&self, number: u64, rate: f64) -> Schedule {
        let part = (self.part << 40) | (number & 0xff_ffff_ffff);
        Schedule::draw(self.seed, part, rate, self.connections, self.window)
    }

    /// Has a window, in which the server's background may run. What the client found, and what the server used up.
    pub(crate) fn window<T>(
        &mut self,
        arm: usize,
        run: impl FnOnce(&mut Client<D>) -> Result<T, Failure>,
    ) -> Result<(T, Usage), Failure> {
        let (server, client) = &mut self.running[arm];
        let before = server.command(&Command::Go)?;
        let found = run(client)?;
        let after = server.command(&Command::Stop)?;
        client.settle()?;
        let cpu = after.cpu.saturating_sub(before.cpu);
        Ok((found, Usage { cpu, work: after.work - before.work }))
    }

    /// Has a window with an open loop. The keys of figures begin with `prefix`; the pieces of work a second of a background
    /// are the figure `background`, if there is one.
    pub(crate) fn open_loop(
        &mut self,
        arm: usize,
        schedule: &Schedule,
        prefix: &str,
        background: Option<&str>,
    ) -> Result<Sample, Failure> {
        let (open, usage) = self.window(arm, |client| client.open(schedule, LIMIT))?;
        let key = |figure: &str| format!("{prefix}{figure}");
        let sample = Sample::default()
            .with_values(key(LATENCY), open.latencies)
            .with_values(key(LATENESS), open.lateness);
        Ok(match background {
            None => sample,
            Some(figure) => sample.with_rate(key(figure), usage.work as f64, open.elapsed.as_secs_f64()),
        })
    }
}
