//! A [server](super::server) of our own, with the [client](super::client) of our own.

use std::time::Duration;

use anyhow::Result;

use super::cell::{Found, LATENCY, LATENESS, Load, Server};
use super::client::Client;
use super::schedule::Schedule;
use super::server::Setup;
use crate::harness::child::Child;
use crate::harness::{Pinning, Sample};
use crate::stopwatch::Stopwatch;

/// How long the last answers of an open loop may take, beside compactors that go on.
const LIMIT: Duration = Duration::from_millis(500);

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
                let sample = Sample::default().distribution(LATENCY, open.latencies);
                (sample.distribution(LATENESS, open.lateness), rate)
            }
        };
        let elapsed = watch.elapsed().as_secs_f64();
        let after: u64 = self.process.ask(&())?;
        self.client.settle()?;
        self.process.let_run(false)?;
        Ok(Found { sample, rate, chunks: (after - before) as f64 / elapsed })
    }
}
