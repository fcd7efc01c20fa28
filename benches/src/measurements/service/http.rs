//! hyper, as the example `http_service` uses it, under the load generator `oha`.
//!
//! The servers are processes of the example, which cargo builds as this program was built.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::cell::{Found, LATENCY, Load, Server};
use super::server::{Arm, Setup};
use crate::harness::child::let_run;
use crate::harness::{Pinning, Sample, Side};
use crate::stopwatch::Stopwatch;

/// What is not there, and what to do.
pub(super) const MISSING: &str = "oha is not installed: cargo install oha --locked";

/// Whether `oha` can be run.
pub(super) fn is_there() -> bool {
    Command::new("oha").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A process of the example.
struct Example {
    process: Child,
    /// Where its summary goes; it would fail without.
    _output: BufReader<ChildStdout>,
    address: String,
}

/// Starts a process of the example, on the measured core.
pub(super) fn start(setup: Setup, _load: &Load, pinning: &Pinning) -> Result<Box<dyn Server>> {
    ensure!(is_there(), MISSING);
    let executor = if setup.arm == Arm::Native { "localset" } else { "clockworker" };
    let mut command = Command::new(program()?);
    command.args(["--executor", executor, "--compactors", &setup.compactors.to_string()]);
    let started = pinning.thread(Side::Measured, move || command.stdout(Stdio::piped()).spawn()).join();
    let mut process = started.expect("starting a process does not panic")?;
    let mut output = BufReader::new(process.stdout.take().expect("it was asked for"));
    let mut line = String::new();
    output.read_line(&mut line)?;
    let address = line.trim_end().strip_prefix("listening on http://").unwrap_or_default().to_owned();
    let example = Example { process, _output: output, address };
    ensure!(!example.address.is_empty(), "http_service does not listen");
    let_run(&example.process, false)?;
    Ok(Box::new(example))
}

impl Server for Example {
    fn window(&mut self, load: &Load, rate: Option<f64>, _part: u64) -> Result<Found> {
        let_run(&self.process, true)?;
        let (before, watch) = (self.counter("chunks")?, Stopwatch::start());
        let report = self.ask(load, rate)?;
        let (chunks, elapsed) = (self.counter("chunks")? - before, watch.elapsed().as_secs_f64());
        ensure!(self.counter("corrupt")? == 0, "entries of the store are not what was written");
        let_run(&self.process, false)?;
        let (answered, latencies) = figures(&report)?;
        // In a closed loop they are only what the rate is, and the number of connections.
        let sample = if rate.is_some() { latencies } else { Sample::default() };
        Ok(Found { sample, rate: answered, chunks: chunks as f64 / elapsed, cpu: f64::NAN })
    }
}

impl Example {
    /// Has `oha` ask for keys that are there: as fast as answers come, or so many a second, whatever becomes of those before.
    fn ask(&self, load: &Load, rate: Option<f64>) -> Result<Value> {
        let mut oha = Command::new("oha");
        oha.args(["--no-tui", "--output-format", "json", "-w", "-c", &load.connections.to_string()]);
        oha.args(["-z", &format!("{}ms", load.window.as_millis())]);
        if let Some(rate) = rate {
            oha.args(["-q", &rate.to_string(), "--latency-correction"]);
        }
        oha.args(["--rand-regex-url", &format!("http://{}/key-0[0-9]{{5}}", self.address)]);
        let output = oha.output()?;
        if !output.status.success() {
            bail!("oha failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        serde_json::from_slice(&output.stdout).context("oha reports something else than was expected")
    }

    /// A counter of what `GET /stats` answers.
    fn counter(&self, name: &str) -> Result<u64> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.write_all(b"GET /stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("http_service does not answer")?;
        serde_json::from_str::<Value>(body)?[name].as_u64().context("http_service has no such counter")
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The example's program. Cargo builds it once.
fn program() -> Result<&'static PathBuf> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    if PROGRAM.get().is_none() {
        drop(PROGRAM.set(build()?));
    }
    PROGRAM.get().context("it was just built")
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

/// The answers a second in a report of `oha`, and the latencies. Its times are in seconds.
fn figures(report: &Value) -> Result<(f64, Sample)> {
    let (statuses, errors) = (&report["statusCodeDistribution"], &report["errorDistribution"]);
    let all_good = statuses.as_object().is_some_and(|statuses| statuses.keys().eq(["200"]));
    let none_bad = errors.as_object().is_some_and(|errors| errors.is_empty());
    ensure!(all_good && none_bad, "requests failed: answers by status {statuses}, errors {errors}");
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let percentiles = &report["latencyPercentiles"];
    let latencies = [
        ("mean", &report["summary"]["average"]),
        ("p50", &percentiles["p50"]),
        ("p99", &percentiles["p99"]),
        ("p999", &percentiles["p99.9"]),
    ];
    let sample = latencies.into_iter().fold(Sample::default(), |sample, (statistic, seconds)| {
        sample.number(&format!("{LATENCY}.{statistic}"), number(seconds) * 1e9)
    });
    Ok((number(&report["summary"]["requestsPerSec"]), sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(statuses: &str, errors: &str) -> Value {
        let text = format!(
            r#"{{"summary": {{"successRate": 1.0, "average": 0.0003, "requestsPerSec": 19953.5}},
                "latencyPercentiles": {{"p50": 0.00027, "p99": 0.00076, "p99.9": 0.00217, "p99.99": null}},
                "statusCodeDistribution": {{{statuses}}}, "errorDistribution": {{{errors}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_report_is_figures_in_nanoseconds() {
        let (rate, sample) = figures(&report(r#""200": 1000"#, "")).unwrap();
        let found: Vec<_> = sample.into_figures().into_values().map(f64::round).collect();
        assert_eq!((rate, &*found), (19953.5, &[300e3, 270e3, 760e3, 2_170e3][..]));
    }

    #[test]
    fn a_request_that_failed_ends_the_run() {
        for (statuses, errors) in [(r#""200":8,"404":2"#, ""), (r#""200":9"#, r#""closed":1"#), ("", "")] {
            let failure = figures(&report(statuses, errors)).unwrap_err().to_string();
            let wanted = format!("requests failed: answers by status {{{statuses}}}, errors {{{errors}}}");
            assert_eq!(failure, wanted);
        }
    }
}
