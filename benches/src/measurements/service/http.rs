//! hyper, as the example `http_service` uses it, under the load generator `oha`.
//!
//! The servers are processes of `examples/http_service`, built by cargo before anything is measured. All of a cell are up for
//! all rounds, and all are stopped (`SIGSTOP`) but the one that has its window.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;

use super::cell::{CHUNKS, CLOSED_CHUNKS, CLOSED_RATE, LATENCY};
use crate::harness::{Experiment, Pinning, Sample, Side, Window};
use crate::stopwatch::Stopwatch;

/// Answers a second in the open loop.
pub(super) const OPEN_RATE: &str = "open_rate";

/// What is not there, and what to do.
pub(super) const MISSING: &str = "oha is not installed: cargo install oha --locked";

const ROUNDS: u32 = 8;

const CONNECTIONS: u32 = 64;

/// Requests a second of the open loop: a sixth of what the service answers in a closed one.
const RATE: u32 = 20_000;

/// The executors of the example, as its option has them and as tables do.
const ARMS: [(&str, &str); 2] = [("localset", "LocalSet"), ("clockworker", "Clockworker, two queues 19:1")];

pub(super) struct Http {
    title: String,
    titles: Vec<String>,
    compactors: u32,
    window: Duration,
    pinning: Pinning,
    /// By place.
    servers: Vec<Server>,
}

impl Http {
    /// `with` says how many compactors there are.
    pub(super) fn new(compactors: u32, with: &str, quick: bool, pinning: &Pinning) -> Self {
        Http {
            title: format!("hyper, 64 connections, {with}"),
            titles: ARMS.map(|(_, title)| title.to_owned()).to_vec(),
            compactors,
            window: Duration::from_millis(if quick { 50 } else { 700 }),
            pinning: pinning.clone(),
            servers: Vec::new(),
        }
    }
}

/// Whether `oha` can be run.
pub(super) fn is_there() -> bool {
    Command::new("oha").arg("--version").output().is_ok_and(|output| output.status.success())
}

impl Experiment for Http {
    fn part(&self) -> &str {
        "http"
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn arms(&self) -> &[String] {
        &self.titles
    }

    fn rounds(&self) -> u32 {
        ROUNDS
    }

    /// `oha` runs where the thread is that starts it.
    fn side(&self) -> Side {
        Side::Load
    }

    /// The closed loop, and the open one.
    fn phases(&self) -> usize {
        2
    }

    fn start(&mut self, places: &[usize]) -> Result<()> {
        ensure!(is_there(), MISSING);
        let program = build()?;
        for &arm in places {
            self.servers.push(Server::start(&program, ARMS[arm].0, self.compactors, &self.pinning)?);
        }
        Ok(())
    }

    fn sample(&mut self, window: &Window) -> Result<Sample> {
        let server = &self.servers[window.place];
        let is_open = window.phase == 1;
        server.signal(Signal::CONT)?;
        let before = server.counters()?;
        let watch = Stopwatch::start();
        let found = load(&server.address, self.window, is_open.then_some(RATE))?;
        let elapsed = watch.elapsed().as_secs_f64();
        let after = server.counters()?;
        server.signal(Signal::STOP)?;
        ensure!(after.corrupt == 0, "{} entries of the store are not what was written", after.corrupt);
        let sample = found.sample(if is_open { OPEN_RATE } else { CLOSED_RATE }, is_open)?;
        let chunks = if is_open { CHUNKS } else { CLOSED_CHUNKS };
        Ok(match self.compactors {
            0 => sample,
            _ => sample.rate(chunks, (after.chunks - before.chunks) as f64, elapsed),
        })
    }
}

/// Has cargo build the example, as this program was built. Its path.
fn build() -> Result<PathBuf> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let output = Command::new("cargo")
        .args(["build", "--profile", profile, "--manifest-path", manifest])
        .args(["-p", "clockworker-examples", "--example", "http_service"])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be run, to build the example http_service")?;
    let messages = output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(&line.ok()?).ok());
    let mut programs = messages.filter_map(|message| Some(message["executable"].as_str()?.into()));
    programs.next().context("cargo cannot build the example http_service")
}

/// A process of the example.
struct Server {
    process: Child,
    /// Where its summary goes; it would fail without.
    _output: BufReader<ChildStdout>,
    address: String,
}

/// What `GET /stats` answers, as far as it is used.
#[derive(Debug, PartialEq, Deserialize)]
struct Counters {
    chunks: u64,
    corrupt: u64,
}

impl Server {
    /// Starts a server on the measured core, and stops it when it listens.
    fn start(program: &Path, executor: &'static str, compactors: u32, pinning: &Pinning) -> Result<Self> {
        let mut command = Command::new(program);
        command
            .args(["--executor", executor, "--compactors", &compactors.to_string()])
            .stdout(Stdio::piped());
        let started = pinning.thread(Side::Measured, move || command.spawn()).join();
        let mut process = started.expect("starting a process does not panic")?;
        let mut output = BufReader::new(process.stdout.take().expect("it was asked for"));
        let mut line = String::new();
        output.read_line(&mut line)?;
        let address = line.trim_end().strip_prefix("listening on http://").map(str::to_owned);
        let server = Server { process, _output: output, address: address.unwrap_or_default() };
        ensure!(!server.address.is_empty(), "http_service does not listen");
        server.signal(Signal::STOP)?;
        Ok(server)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.process), signal)?)
    }

    fn counters(&self) -> Result<Counters> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.write_all(b"GET /stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("http_service does not answer")?;
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// What `oha` reports, as far as it is used. Times are in seconds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    requests_per_sec: f64,
}

/// Has `oha` ask for keys that are there: as fast as answers come, or so many a second, whatever becomes of those before.
fn load(address: &str, length: Duration, rate: Option<u32>) -> Result<Report> {
    let mut oha = Command::new("oha");
    oha.args(["--no-tui", "--output-format", "json", "-w", "-c", &CONNECTIONS.to_string()]);
    oha.args(["-z", &format!("{}ms", length.as_millis())]);
    if let Some(rate) = rate {
        oha.args(["-q", &rate.to_string(), "--latency-correction"]);
    }
    let output = oha.args(["--rand-regex-url", &format!("http://{address}/key-0[0-9]{{5}}")]).output()?;
    if !output.status.success() {
        bail!("oha failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("oha reports something else than was expected")
}

impl Report {
    fn sample(&self, rate: &str, with_latencies: bool) -> Result<Sample> {
        let answers: u64 = self.status_code_distribution.values().sum();
        let good = self.status_code_distribution.get("200").copied().unwrap_or(0);
        let failed = answers - good + self.error_distribution.values().sum::<u64>();
        ensure!(failed == 0 && good > 0, "of {} requests {failed} failed", good + failed);
        let mut sample = Sample::default().number(rate, self.summary.requests_per_sec);
        if with_latencies {
            for (key, name) in [("p50", "p50"), ("p99", "p99"), ("p999", "p99.9")] {
                let seconds = self.latency_percentiles.get(name).copied().flatten();
                sample = sample.number(&format!("{LATENCY}.{key}"), seconds.unwrap_or(f64::NAN) * 1e9);
            }
        }
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Sample;

    fn report(statuses: &str, errors: &str) -> Report {
        let text = format!(
            r#"{{"summary": {{"successRate": 1.0, "requestsPerSec": 19953.5, "sizePerSec": null}},
                "latencyPercentiles": {{"p50": 0.00027, "p99": 0.00076, "p99.9": 0.00217, "p99.99": null}},
                "statusCodeDistribution": {{{statuses}}}, "errorDistribution": {{{errors}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_report_is_figures_in_nanoseconds() {
        let sample: Sample = report(r#""200": 1000"#, "").sample(OPEN_RATE, true).unwrap();
        let figures = sample.figures().into_iter().map(|(key, value)| (key, value.round()));
        let wanted = [
            ("latency_ns.p50", 270e3),
            ("latency_ns.p99", 760e3),
            ("latency_ns.p999", 2_170e3),
            (OPEN_RATE, 19_954.0),
        ];
        assert_eq!(figures.collect::<Vec<_>>(), wanted.map(|(key, value)| (key.to_owned(), value)));
    }

    #[test]
    fn a_request_that_failed_ends_the_run() {
        for (statuses, errors, reason) in [
            (r#""200": 8, "404": 2"#, "", "of 10 requests 2 failed"),
            (r#""200": 9"#, r#""connection closed": 1"#, "of 10 requests 1 failed"),
            ("", "", "of 0 requests 0 failed"),
        ] {
            let found = report(statuses, errors).sample(CLOSED_RATE, false);
            assert_eq!(found.unwrap_err().to_string(), reason);
        }
    }
}
