//! The command `service`: what services gain and lose, by their imports alone and by queues.
//!
//! Each server is a process of its own, with one thread that serves, on one core. The client is on the other core.
//!
//! - `kv`: a key-value service. A line is a request, each connection is a task, the state is an `Rc<RefCell<HashMap>>`, and
//!   each read has a timeout. Compactors work off chunks of 100 µs of CPU time on the same thread, and yield between them. The
//!   source is compiled once for each set of imports, so that arms differ by these only; with queues some lines of the main
//!   function differ. Sixteen connections send 8,000 requests a second in an *open loop*: a Poisson process drawn beforehand
//!   says when, one schedule for all arms of a round, and a latency counts from that moment. So a server that falls behind is
//!   not let off.
//! - `echo`: the same server, which sends back what comes, in messages of 1 KiB. First in a *closed loop*, in which each
//!   connection has one request under way, then in an open one at half the pace of the slowest server without compactors.
//! - `http`: the example `http_service`, hyper with a store and its compaction, under `oha`. First in a closed loop of 64
//!   connections, then in an open one of 20,000 requests a second. `oha` draws its own requests, evenly in time, all of them
//!   reads. A percentile is the median of those of the rounds.
//!
//! `kv` and `echo` are on tokio, and with the feature `rivals` on monoio too. They have one client, which compares every byte of
//! the answers; a wrong one ends the run. A request that is not answered half a second after the window counts as 60 s. The
//! first sixth of their open loops does not count.
//!
//! What a reader must not conclude: throughput in a closed loop says nothing of latency under a given load, as a server that
//! answers sooner is asked more. Beside compactors it shows by which shares the thread is divided. Where requests were sent
//! late, latencies are those of the client.

mod cell;
mod client;
mod http;
mod own;
mod protocol;
mod schedule;
pub mod server;

use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum, value_parser};

use crate::harness::{Comparison, Experiment, Measurement, Options, Pinning, Table, Unit, table};
use cell::{CHUNKS, CLOSED_CHUNKS, CLOSED_RATE, Cell, LATENCY, LATENESS, Load, Loop, OPEN_RATE};
use protocol::Protocol;
use server::{Arm, Host, Setup};

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

const KV_LOAD: Load = Load {
    start: own::start,
    connections: 16,
    // Each connection thinks for 2 ms on average.
    loops: &[Loop::Rate(8_000.0)],
    window: Duration::from_millis(250),
    rounds: 12,
    seed: 0,
};

const ECHO_LOAD: Load = Load {
    start: own::start,
    connections: 64,
    loops: &[Loop::Closed, Loop::HalfLoad],
    window: Duration::from_millis(100),
    rounds: 16,
    seed: 0,
};
/// Connections of the echo server, and compactors beside it.
const ECHO_CELLS: [(usize, u32); 3] = [(1, 0), (64, 0), (64, 8)];

const HTTP_LOAD: Load = Load {
    start: http::start,
    connections: 64,
    // A sixth of what the service answers in a closed loop.
    loops: &[Loop::Closed, Loop::Rate(20_000.0)],
    window: Duration::from_millis(700),
    rounds: 8,
    seed: 0,
};
const HTTP_COMPACTORS: [u32; 2] = [0, 8];

/// The window and the connections of a quick run.
const QUICK_WINDOW: Duration = Duration::from_millis(40);
const QUICK_CONNECTIONS: usize = 8;

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
        if self.options.only.iter().any(|part| part == HTTP) || http::is_there() {
            cells.extend(HTTP_COMPACTORS.map(|number| self.http(number, pinning)));
        }
        let mut experiments: Vec<Box<dyn Experiment>> = Vec::new();
        for (number, mut cell) in (0..).zip(cells) {
            cell.number = number;
            experiments.push(Box::new(cell));
        }
        Ok(experiments)
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        let mut tables: Vec<Table> = found.iter().flat_map(tables_of).collect();
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
        let title = format!("Key-value service on {}, {}", host.title(), with(compactors));
        Cell::new(KV, title, arms.map(setup).collect(), self.load(KV_LOAD), pinning)
    }

    fn echo(&self, host: Host, connections: usize, compactors: u32, pinning: &Pinning) -> Cell {
        // Beside compactors, the base is the server without them.
        let arms = match compactors {
            0 => vec![(Arm::Native, 0), (Arm::Imports, 0)],
            _ => vec![(Arm::Native, 0), (Arm::Native, compactors), (Arm::TwoQueues, compactors)],
        };
        let setup = |(arm, compactors)| Setup { host, protocol: Protocol::Echo, arm, compactors };
        let load = self.load(Load { connections, ..ECHO_LOAD });
        let plural = if load.connections == 1 { "" } else { "s" };
        let connections = format!("{} connection{plural}", load.connections);
        let title = format!("Echo on {}, {connections}, {}", host.title(), with(compactors));
        Cell::new(ECHO, title, arms.into_iter().map(setup).collect(), load, pinning)
    }

    fn http(&self, compactors: u32, pinning: &Pinning) -> Cell {
        let setup = |arm| Setup { host: Host::Tokio, protocol: Protocol::KeyValue, arm, compactors };
        let title = format!("hyper, {}", with(compactors));
        let arms = [Arm::Native, Arm::TwoQueues].map(setup);
        Cell::new(HTTP, title, arms.to_vec(), self.load(HTTP_LOAD), pinning)
    }

    /// With what was asked for.
    fn load(&self, usual: Load) -> Load {
        let usual = Load { seed: self.options.seed, ..usual };
        match self.options.quick {
            true => {
                Load { window: QUICK_WINDOW, connections: usual.connections.min(QUICK_CONNECTIONS), ..usual }
            }
            false => usual,
        }
    }
}

fn with(compactors: u32) -> String {
    match compactors {
        0 => "no compactors".to_owned(),
        1 => "1 compactor".to_owned(),
        _ => format!("{compactors} compactors"),
    }
}

/// The closed loop, if there is one, and the open one.
fn tables_of(found: &Comparison) -> Vec<Table> {
    let has_closed_loop = found.arms[0].figures.contains_key(CLOSED_RATE);
    let closed = has_closed_loop.then(|| {
        Table::new(format!("{}: closed loop", found.title))
            .column("answers", found, CLOSED_RATE, Unit::PerSecond)
            .column("chunks", found, CLOSED_CHUNKS, Unit::PerSecond)
    });
    let statistics = [("mean", "mean"), ("p50", "p50"), ("p99", "p99"), ("p99.9", "p999")];
    let open = Table::new(format!("{}: open loop", found.title));
    let open = statistics.into_iter().fold(open, |table, (heading, statistic)| {
        table.column(heading, found, &format!("{LATENCY}.{statistic}"), Unit::Nanos)
    });
    let open = open
        .column("chunks", found, CHUNKS, Unit::PerSecond)
        .values("requests", found, OPEN_RATE, Unit::PerSecond)
        .values("sent late, p99", found, &format!("{LATENESS}.p99"), Unit::Nanos);
    closed.into_iter().chain([open]).collect()
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
        let cells = self::cells("");
        let titles = cells.iter().map(|(title, _)| title.strip_prefix("Key-value service on tokio, "));
        let with = ["no compactors", "1 compactor", "4 compactors", "16 compactors"];
        assert!(titles.take(4).eq(with.map(Some)) && cells.len() == 4 + ECHO_CELLS.len());
        assert_eq!((cells[0].1.len(), &*cells[0].1[0]), (5, "LocalSet"));
        let some = &self::cells("--compactors 3 --arms qlas")[0];
        assert_eq!(some.0, "Key-value service on tokio, 3 compactors");
        assert_eq!(some.1, ["LocalSet", "Clockworker, QLAS"]);
    }

    #[test]
    fn echo_beside_compactors_is_compared_with_echo_alone_and_chunks_are_with_those_beside_local_set() {
        let service = Service { options: Options::default(), compactors: Vec::new(), arms: Vec::new() };
        let cell = service.echo(Host::Tokio, 64, 8, &Pinning::detect());
        assert_eq!(cell.arms()[..2], ["LocalSet, no compactors", "LocalSet"]);
        assert_eq!(
            [LATENCY, CLOSED_RATE, CHUNKS, CLOSED_CHUNKS].map(|figure| cell.base(figure)),
            [0, 0, 1, 1]
        );
    }
}
