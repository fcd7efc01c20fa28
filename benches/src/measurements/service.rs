//! The command `service`: what services gain and lose, by their imports alone and by queues.
//!
//! Each server is a process of its own, with one thread that serves, on one core. The client is on the other core.
//!
//! - `kv`: a key-value service. A line is a request, each connection is a task, the state is an `Rc<RefCell<HashMap>>`, and
//!   each line has a timeout. Compactors work off chunks of 100 µs of CPU time on the same thread, and yield between them. The
//!   source is compiled once for each set of imports, so that arms differ by these only; with queues some lines of the main
//!   function differ. Sixteen connections send 8,000 requests a second in an *open loop*: a Poisson process drawn beforehand
//!   says when, one schedule for all arms of a round, and a latency counts from that moment. So a server that falls behind is
//!   not let off.
//! - `http`: the example `http_service`, hyper with a store and its compaction, under `oha`. First in a *closed loop*, in which
//!   64 connections have one request each under way, then in an open loop of 20,000 requests a second. `oha` draws its own
//!   requests, all of them reads, evenly in time. A percentile is the median of those of the rounds.
//! - `echo`: an echo server, messages of 1 KiB. First in a closed loop, then in an open one at half the pace of the slowest
//!   server without compactors.
//!
//! `kv` and `echo` are on tokio, and with the feature `rivals` on monoio too. They have one client, which compares every byte of
//! the answers; a wrong one ends the run. A request that is not answered half a second after the window counts as 60 s. The
//! first sixth of an open loop does not count.
//!
//! What a reader must not conclude: throughput in a closed loop says nothing of latency under a given load, as a server that
//! answers sooner is asked more. Beside compactors it shows by which shares the thread is divided. Where requests were sent
//! late, latencies are those of the client. CPU per answer is that of the whole process.

mod cell;
mod client;
mod dialogue;
#[cfg(unix)]
mod http;
mod schedule;
pub mod server;
mod store;

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum, value_parser};

use crate::harness::{Comparison, Experiment, Measurement, Options, Pinning, Table, Unit, table};
use cell::{CHUNKS, CLOSED_CHUNKS, CLOSED_CPU, CLOSED_RATE, Cell, DUE_RATE, LATENCY, LATENESS, Load, Loop};
use dialogue::{Echoes, KeysAndValues};
#[cfg(unix)]
use http::Http;
use server::{Arm, Host, Protocol, Setup};

#[derive(Args, Debug)]
pub struct Service {
    #[command(flatten)]
    pub options: Options,

    /// Numbers of compactors beside the key-value service, separated by commas [default: 0,1,4,16]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = value_parser!(u32).range(0..=1_000))]
    pub compactors: Vec<u32>,

    /// Run the key-value service by these only, separated by commas; the host's own spawn is always among them [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,
}

const KV: &str = "kv";
const HTTP: &str = "http";
const ECHO: &str = "echo";

const KV_CONNECTIONS: usize = 16;
/// Requests a second: each connection thinks for 2 ms on average, as by a Poisson process.
const KV_RATE: f64 = 8_000.0;
const KV_WINDOW: Duration = Duration::from_millis(250);
const KV_ROUNDS: u32 = 12;

const ECHO_BYTES: usize = 1_024;
const ECHO_WINDOW: Duration = Duration::from_millis(100);
const ECHO_ROUNDS: u32 = 16;
/// Connections of the echo server, and compactors beside it.
const ECHO_CELLS: [(usize, u32); 3] = [(1, 0), (64, 0), (64, 8)];

/// Compactors beside hyper.
const HTTP_COMPACTORS: [u32; 2] = [0, 8];

/// A window of the key-value service or the echo server in a quick run.
const QUICK_WINDOW: Duration = Duration::from_millis(40);

impl Measurement for Service {
    fn name(&self) -> &'static str {
        "service"
    }

    fn question(&self) -> &'static str {
        "What do services gain and lose, by their imports alone and by queues?"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn experiments(&self, pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>> {
        let hosts = || Host::ALL.iter().copied();
        let mut cells = Vec::new();
        for host in hosts() {
            cells.extend(self.compactors().into_iter().map(|number| self.key_value(host, number, pinning)));
        }
        for host in hosts() {
            cells.extend(
                ECHO_CELLS.map(|(connections, number)| self.echo(host, connections, number, pinning)),
            );
        }
        let mut experiments: Vec<Box<dyn Experiment>> = Vec::new();
        for (number, mut cell) in (0..).zip(cells) {
            cell.number = number;
            experiments.push(Box::new(cell));
        }
        #[cfg(unix)]
        if self.asks_for_http() || http::is_there() {
            let http = |number| Http::new(number, &with(number), self.options.quick, pinning);
            experiments.extend(HTTP_COMPACTORS.map(|number| Box::new(http(number)) as _));
        }
        Ok(experiments)
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        let tables = |found: &Comparison| match found.part.as_str() {
            KV => vec![open_loop(&found.title, found)],
            #[cfg(unix)]
            HTTP => http_tables(found).into(),
            _ => echo_tables(found).into(),
        };
        let mut tables: Vec<Table> = found.iter().flat_map(tables).collect();
        #[cfg(unix)]
        if self.options.only.is_empty() && found.iter().all(|found| found.part != HTTP) {
            let why = [table::Cell::Text(http::MISSING.to_owned())];
            tables.push(Table {
                columns: vec!["why".to_owned()],
                ..Table::new("hyper").row("not measured", why)
            });
        }
        tables
    }
}

impl Service {
    #[cfg(unix)]
    fn asks_for_http(&self) -> bool {
        self.options.only.iter().any(|part| part == HTTP)
    }

    fn compactors(&self) -> Vec<u32> {
        match &self.compactors[..] {
            [] if self.options.quick => vec![0, 2],
            [] => vec![0, 1, 4, 16],
            some => some.to_vec(),
        }
    }

    fn key_value(&self, host: Host, compactors: u32, pinning: &Pinning) -> Cell {
        let is_wanted = |arm: &Arm| self.arms.is_empty() || self.arms.contains(arm);
        let others = Arm::value_variants().iter().copied().filter(|arm| host.has(*arm)).filter(is_wanted);
        let arms = [Arm::Native].into_iter().chain(others);
        let setup = |arm| Setup { host, protocol: Protocol::KeyValue, arm, compactors };
        let load = Load {
            dialogue: Rc::new(KeysAndValues::new(self.options.seed, KV_CONNECTIONS)),
            connections: KV_CONNECTIONS,
            loops: &[Loop::Rate(KV_RATE)],
            window: self.window(KV_WINDOW),
            rounds: KV_ROUNDS,
            seed: self.options.seed,
        };
        let title = format!("Key-value service on {}, {}", host.title(), with(compactors));
        Cell::new(KV, title, arms.map(setup).collect(), load, pinning)
    }

    fn echo(&self, host: Host, connections: usize, compactors: u32, pinning: &Pinning) -> Cell {
        let connections = if self.options.quick { connections.min(8) } else { connections };
        // Beside compactors, the base is the server without them.
        let arms = match compactors {
            0 => vec![(Arm::Native, 0), (Arm::Imports, 0)],
            _ => vec![(Arm::Native, 0), (Arm::Native, compactors), (Arm::TwoQueues, compactors)],
        };
        let setup = |(arm, compactors)| Setup { host, protocol: Protocol::Echo, arm, compactors };
        let load = Load {
            dialogue: Rc::new(Echoes::new(self.options.seed, ECHO_BYTES)),
            connections,
            loops: &[Loop::Closed, Loop::HalfLoad],
            window: self.window(ECHO_WINDOW),
            rounds: ECHO_ROUNDS,
            seed: self.options.seed,
        };
        let connections =
            if connections == 1 { "1 connection".into() } else { format!("{connections} connections") };
        let title = format!("Echo on {}, {connections}, {}", host.title(), with(compactors));
        Cell::new(ECHO, title, arms.into_iter().map(setup).collect(), load, pinning)
    }

    fn window(&self, usual: Duration) -> Duration {
        if self.options.quick { QUICK_WINDOW } else { usual }
    }
}

fn with(compactors: u32) -> String {
    match compactors {
        0 => "no compactors".to_owned(),
        1 => "1 compactor".to_owned(),
        _ => format!("{compactors} compactors"),
    }
}

/// The closed loop, and the open one.
fn echo_tables(found: &Comparison) -> [Table; 2] {
    let closed = Table::new(format!("{}: closed loop", found.title))
        .column("answers", found, CLOSED_RATE, Unit::PerSecond)
        .column("CPU per answer", found, CLOSED_CPU, Unit::Nanos)
        .column("chunks", found, CLOSED_CHUNKS, Unit::PerSecond);
    let open = open_loop(&format!("{}: open loop at half load", found.title), found);
    [closed, open.values("requests", found, DUE_RATE, Unit::PerSecond)]
}

fn open_loop(title: &str, found: &Comparison) -> Table {
    latencies(Table::new(title), &["mean", "p50", "p99", "p999"], found)
        .column("chunks", found, CHUNKS, Unit::PerSecond)
        .values("sent late, p99", found, &format!("{LATENESS}.p99"), Unit::Nanos)
}

/// The closed loop, and the open one.
#[cfg(unix)]
fn http_tables(found: &Comparison) -> [Table; 2] {
    let closed = Table::new(format!("{}: closed loop", found.title))
        .column("answers", found, CLOSED_RATE, Unit::PerSecond)
        .column("chunks", found, CLOSED_CHUNKS, Unit::PerSecond);
    let open = Table::new(format!("{}: open loop", found.title));
    let open = latencies(open, &["p50", "p99", "p999"], found)
        .column("chunks", found, CHUNKS, Unit::PerSecond)
        .values("answers", found, http::OPEN_RATE, Unit::PerSecond);
    [closed, open]
}

fn latencies(table: Table, statistics: &[&str], found: &Comparison) -> Table {
    statistics.iter().fold(table, |table, key| {
        table.column(key.replace("p999", "p99.9"), found, &format!("{LATENCY}.{key}"), Unit::Nanos)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, Line};
    use clap::Parser;

    fn cells(line: &str) -> Vec<(String, Vec<String>)> {
        let line = ["clockworker-benches", "service"].into_iter().chain(line.split_terminator(' '));
        let Command::Service(service) = Line::try_parse_from(line).unwrap().command else { unreachable!() };
        let experiments = service.experiments(&Pinning::detect()).unwrap();
        let cells = experiments.iter().filter(|one| one.part() != HTTP && one.title().contains("tokio"));
        cells.map(|cell| (cell.title().to_owned(), cell.arms().to_vec())).collect()
    }

    #[test]
    fn the_key_value_service_has_every_arm_beside_every_number_of_compactors() {
        let cells = cells("");
        let with = ["no compactors", "1 compactor", "4 compactors", "16 compactors"];
        assert!(
            cells
                .iter()
                .map(|(title, _)| title)
                .zip(with)
                .all(|(title, with)| { *title == format!("Key-value service on tokio, {with}") })
        );
        let arms = [
            "LocalSet",
            "Clockworker by imports",
            "Clockworker by imports, tokio's yield_now",
            "Clockworker, two queues 19:1",
            "Clockworker, QLAS",
        ];
        assert_eq!(cells[0].1, arms);
        assert_eq!(cells.len(), with.len() + ECHO_CELLS.len());
    }

    #[test]
    fn a_few_arms_and_compactors_can_be_asked_for_and_the_base_is_always_there() {
        let cells = cells("--compactors 3 --arms qlas");
        assert_eq!(cells[0].0, "Key-value service on tokio, 3 compactors");
        assert_eq!(cells[0].1, ["LocalSet", "Clockworker, QLAS"]);
    }

    #[test]
    fn echo_beside_compactors_is_compared_with_echo_alone_and_their_chunks_with_those_beside_local_set() {
        let cell = Service { options: Options::default(), compactors: Vec::new(), arms: Vec::new() }.echo(
            Host::Tokio,
            64,
            8,
            &Pinning::detect(),
        );
        assert_eq!(cell.arms()[..2], ["LocalSet, no compactors", "LocalSet"]);
        assert_eq!(
            [LATENCY, CLOSED_RATE, CHUNKS, CLOSED_CHUNKS].map(|figure| cell.base(figure)),
            [0, 0, 1, 1]
        );
    }
}
