//! The command `service`: what services gain and lose, by their imports alone and by queues.
//!
//! Each server is a process of its own, with one thread that serves, on one core. The client is on the other core.
//!
//! - `kv`: a key-value service. A line is a request, each connection is a task, the state is an `Rc<RefCell<HashMap>>`, and
//!   each read has a timeout. Compactors work off chunks of 100 µs of CPU time on the same thread, and yield between them. The
//!   source is compiled once for each set of imports, so that arms differ by these only; with queues some lines of the main
//!   function differ. In one table compactors hand on by channels in place of yielding. Sixteen connections send 8,000 requests
//!   a second in an *open loop*: a Poisson process drawn beforehand says when, one schedule for all arms of a round, and a
//!   latency counts from that moment. So a server that falls behind is not let off.
//! - `echo`: the same server, which sends back what comes, in messages of 1 KiB. First in a *closed loop*, in which each
//!   connection has one request under way, then in an open one at half the pace of LocalSet.
//! - `proxy`, `redis`, `chat`, `importer`, `light`, `in_task`: services of which only the imports change, in one table.
//!   Saturated means a closed loop.
//!   - `proxy` has two loops that copy for each connection. Its upstream is the client.
//!   - `redis` is `kv` with 16 commands at once. An answer is to all of them.
//!   - `chat` has rooms of eight members, with one message under way in each. An answer is a delivery to a member.
//!   - `importer`, with the feature `axum`, has two tasks that parse rows and have kept tokio's `yield_now`, beside HTTP that axum serves: by
//!     `axum::serve` on tokio, or on connections that are accepted by hand.
//!   - `light` is `kv` with a request each millisecond.
//!   - `in_task` is `echo` where the executor is a task of a `LocalSet` or a `LocalRuntime`: beside pairs of its own tasks
//!     that wake each other, or beside a task of the host's that only yields.
//! - `http`: the example `http_service`, hyper with a store and its compaction, under `oha`. First in a closed loop of 64
//!   connections, then in an open one of 20,000 requests a second. `oha` draws its own requests, evenly in time, all of them
//!   reads. A percentile is the median of those of the rounds.
//!
//! `kv` and `echo` are on tokio, and with the feature `rivals` on monoio too. They have one client, which compares every byte of
//! the answers; a wrong one ends the run. A request that is not answered half a second after the window counts as 60 s. The
//! first sixth of their open loops does not count.
//!
//! CPU time is of the thread that serves. Calls of `epoll_wait` are counted by `strace`, if it is installed, in windows of
//! their own: tokio's metrics count only the calls that block. `strace` stops the server at these calls only. Writes are
//! known: two for each answer of `proxy`, one for each of `redis`.
//!
//! What a reader must not conclude: throughput in a closed loop says nothing of latency under a given load, as a server that
//! answers sooner is asked more. Beside compactors it shows by which shares the thread is divided. Where requests were sent
//! late, latencies are those of the client.

mod cell;
mod client;
mod http;
mod process;
mod protocol;
mod schedule;
pub mod server;

use std::time::Duration;

use crate::harness::{Comparison, Experiment, Measurement, Options, Pinning, Table, Unit, table};
use crate::random::gap;
use cell::{
    CHUNKS, CLOSED_CHUNKS, CLOSED_CPU, CLOSED_RATE, CPU, EPOLLS, LATENCY, LATENESS, Load, Loop, OPEN_RATE,
    experiment,
};
use protocol::Protocol;
use schedule::even;
use server::{Arm, Host, Program, Setup};

pub const SERVICE: Measurement = Measurement {
    name: "service",
    question: "What do services gain and lose, by their imports alone and by queues?",
    experiments,
    tables,
};

/// The key-value service beside so many compactors.
const KV: [(&str, u32); 4] = [("kv_0", 0), ("kv_1", 1), ("kv_4", 4), ("kv_16", 16)];
const HTTP: &str = "http";
const ECHO: &str = "echo";

const KV_LOAD: Load = Load {
    start: client::start,
    connections: 16,
    // Each connection thinks for 2 ms on average.
    loops: &[Loop::Rate(8_000.0)],
    window: Duration::from_millis(250),
    gap,
    rounds: 12,
    seed: 0,
};

const ECHO_LOAD: Load = Load {
    start: client::start,
    connections: 64,
    loops: &[Loop::Closed, Loop::HalfLoad],
    window: Duration::from_millis(100),
    gap,
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
    gap,
    rounds: 8,
    seed: 0,
};
const HTTP_COMPACTORS: [u32; 2] = [0, 8];

/// Letters of a message of the echo server.
const MESSAGE: usize = 1_024;

/// The services of which only the imports change.
const SERVICES: [&str; 6] = ["proxy", "redis", "chat", "importer", "light", "in_task"];

/// Their load.
const SERVICE_LOAD: Load = Load {
    start: client::start,
    connections: 64,
    loops: &[Loop::Closed],
    window: Duration::from_millis(250),
    gap,
    rounds: 24,
    seed: 0,
};
/// Members of chat rooms, each with one message under way in its room.
const CHATTERS: usize = 128;
/// Letters of a message through the proxy.
const SMALL: usize = 64;
/// Commands that a client of the pipelined service sends at once.
const PIPELINE: usize = 16;
const IMPORTERS: u32 = 2;
/// Connections of an executor that is a task.
const IN_TASK_CONNECTIONS: usize = 16;
/// Where calls of `epoll_wait` are counted.
const TRACED_WINDOW: Duration = Duration::from_millis(100);
const TRACED_ROUNDS: u32 = 12;

/// What there is a row for, of the services.
const ROWS: [(&str, &str, Unit); 11] = [
    (CLOSED_RATE, "answers, saturated", Unit::PerSecond),
    (CLOSED_CPU, "CPU time per answer, saturated", Unit::Nanos),
    ("closed_latency_ns.p50", "p50, saturated", Unit::Nanos),
    ("closed_latency_ns.p99", "p99, saturated", Unit::Nanos),
    (CLOSED_CHUNKS, "rows, saturated", Unit::PerSecond),
    (OPEN_RATE, "requests, open loop", Unit::PerSecond),
    (CPU, "CPU time per request, open loop", Unit::Nanos),
    ("latency_ns.p50", "p50, open loop", Unit::Nanos),
    ("latency_ns.p99", "p99, open loop", Unit::Nanos),
    ("lateness_ns.p99", "sent late, p99", Unit::Nanos),
    (CHUNKS, "rows, open loop", Unit::PerSecond),
];

/// The window and the connections of a quick run.
const QUICK_WINDOW: Duration = Duration::from_millis(40);
const QUICK_CONNECTIONS: usize = 8;

/// What is compared under which load, and what part and title that has.
type Spec = (&'static str, String, Vec<Setup>, Load);

fn experiments(options: &Options, pinning: &Pinning) -> Vec<Experiment> {
    let mut cells: Vec<Spec> = Vec::new();
    for &host in Host::ALL {
        cells.extend(KV.map(|(part, compactors)| key_value(host, part, compactors)));
    }
    cells.push(handed_on());
    for &host in Host::ALL {
        cells.extend(ECHO_CELLS.map(|(connections, compactors)| echo(host, connections, compactors)));
    }
    cells.extend(services());
    if options.only.iter().any(|part| part == HTTP) || http::is_there() {
        cells.extend(HTTP_COMPACTORS.map(http));
    }
    let number = |(number, (part, title, arms, load)): (u64, Spec)| {
        let load = Load { seed: options.seed, ..load };
        let connections = load.connections.min(QUICK_CONNECTIONS);
        let quick = Load { window: QUICK_WINDOW, connections, ..load };
        experiment(part, title, arms, if options.quick { quick } else { load }, number, pinning)
    };
    (0..).zip(cells).map(number).collect()
}

fn key_value(host: Host, part: &'static str, compactors: u32) -> Spec {
    let setup = |arm| Setup::new(host, Protocol::KeyValue(1), arm, compactors);
    let title = format!("Key-value service on {}, {}", host.title(), with(compactors));
    (part, title, host.arms().map(setup).collect(), KV_LOAD)
}

/// Compactors that hand on by channels look like tasks that wait for I/O.
fn handed_on() -> Spec {
    let (part, title, arms, load) = key_value(Host::Tokio, "kv_handed_on", 16);
    let is_asked = |arm: &Setup| matches!(arm.arm, Arm::Native | Arm::Imports | Arm::TwoQueues);
    let setup = |arm| Setup { program: Program::HandOn, ..arm };
    let arms = arms.into_iter().filter(is_asked).map(setup).collect();
    (part, format!("{title} that hand on by channels"), arms, load)
}

fn echo(host: Host, connections: usize, compactors: u32) -> Spec {
    // Beside compactors, the base is the server without them.
    let arms = match compactors {
        0 => vec![(Arm::Native, 0), (Arm::Imports, 0)],
        _ => vec![(Arm::Native, 0), (Arm::Native, compactors), (Arm::TwoQueues, compactors)],
    };
    let setup = |(arm, compactors)| Setup::new(host, Protocol::Echo(MESSAGE), arm, compactors);
    let plural = if connections == 1 { "" } else { "s" };
    let title = format!("Echo on {}, {connections} connection{plural}, {}", host.title(), with(compactors));
    (ECHO, title, arms.into_iter().map(setup).collect(), Load { connections, ..ECHO_LOAD })
}

fn http(compactors: u32) -> Spec {
    let setup = |arm| Setup::new(Host::Tokio, Protocol::KeyValue(1), arm, compactors);
    let arms = [Arm::Native, Arm::TwoQueues].map(setup).to_vec();
    (HTTP, format!("hyper, {}", with(compactors)), arms, HTTP_LOAD)
}

/// Services of which only the imports change.
fn services() -> Vec<Spec> {
    let load = SERVICE_LOAD;
    let open = |loops| Load { loops, ..load };
    let (echo, pipelined) = (Protocol::Echo(SMALL), Protocol::KeyValue(PIPELINE));
    let rooms = Load { connections: CHATTERS, ..load };
    let http = open(&[Loop::Closed, Loop::Rate(30_000.0)]);
    let light = Load { gap: even, window: Duration::from_millis(500), ..open(&[Loop::Rate(1_000.0)]) };
    let writers = [
        ("proxy", "Proxy", Program::Proxy, echo),
        ("redis", "Redis, 16 commands at once", Program::Plain, pipelined),
    ];
    let mut services: Vec<Spec> = writers.map(|service| by_imports(service, load)).into();
    if process::can_trace() {
        let traced = Load { window: TRACED_WINDOW, rounds: TRACED_ROUNDS, ..load };
        services.extend(writers.map(|service| by_imports(service, traced)));
        let arms = services.iter_mut().skip(writers.len()).flat_map(|(_, _, arms, _)| arms);
        arms.for_each(|arm| arm.is_traced = true);
    }
    services.extend([
        by_imports(("chat", "Chat rooms of 8", Program::Chat, echo), rooms),
        by_imports(("light", "A request each millisecond", Program::Plain, Protocol::KeyValue(1)), light),
    ]);
    if cfg!(feature = "axum") {
        services.extend([
            by_imports(("importer", "axum::serve beside importers", Program::Served, echo), http),
            by_imports(("importer", "Accepted by hand beside importers", Program::ByHand, echo), http),
        ]);
    }
    for host in [Host::Tokio, Host::LocalRuntime] {
        let load = Load { connections: IN_TASK_CONNECTIONS, ..load };
        let yielder = Load { loops: KV_LOAD.loops, ..load };
        services.push(in_task(host, "pairs", Program::Pairs, load));
        services.push(in_task(host, "a task that yields", Program::Yielder, yielder));
    }
    services
}

fn by_imports((part, title, program, protocol): (&'static str, &str, Program, Protocol), load: Load) -> Spec {
    let is_http = matches!(program, Program::Served | Program::ByHand);
    let importers = if is_http { IMPORTERS } else { 0 };
    let setup = |arm| Setup { program, ..Setup::new(Host::Tokio, protocol, arm, importers) };
    (part, title.to_owned(), [Arm::Native, Arm::Imports].map(setup).to_vec(), load)
}

/// The executor as a task, beside something else of the host's or its own.
fn in_task(host: Host, beside: &str, program: Program, load: Load) -> Spec {
    let setup = |arm| Setup { program, ..Setup::new(host, Protocol::Echo(SMALL), arm, 0) };
    let arms = [Arm::Native, Arm::InTask].map(setup).to_vec();
    ("in_task", format!("In a task of a {}, beside {beside}", arms[0].title()), arms, load)
}

fn table_of_services(found: &[&Comparison]) -> Table {
    found.iter().fold(Table::by_imports("Services by their imports alone"), |table, found| {
        let is_traced = found.arms[0].figures.contains_key(EPOLLS);
        let rows = if is_traced { &[(EPOLLS, "epoll_wait a write", Unit::Number)] } else { &ROWS[..] };
        table.quantities(found, rows)
    })
}

fn tables(found: &[Comparison]) -> Vec<Table> {
    let (services, cells): (Vec<_>, Vec<_>) =
        found.iter().partition(|found| SERVICES.contains(&found.part.as_str()));
    let mut tables: Vec<Table> = cells.into_iter().flat_map(tables_of).collect();
    if !services.is_empty() {
        tables.push(table_of_services(&services));
    }
    let has = |part| found.iter().any(|found| found.part == part);
    if has(KV[0].0) && has(ECHO) && !has(HTTP) {
        let why = [table::Cell::Text(http::MISSING.to_owned())];
        let table = Table { columns: vec!["why".to_owned()], ..Table::new("hyper") };
        tables.push(table.row("not measured", why));
    }
    tables
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
