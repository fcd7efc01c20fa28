//! Starts the services with an executor per core, asks them over several connections, and stops them by signals.
//!
//! Nothing here depends on how fast that is, nor on how many cores there are: two threads may share one.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod program;
#[allow(dead_code, reason = "each test file uses a part")]
mod service;

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::thread;

use rustix::process::Signal;
use service::{Connection, Service};

const DRAINED: &str = "drained: 0 tasks completed, 0 cancelled, 0 panicked";
const CUT: &str = "deadline passed: 0 tasks completed, 1 cancelled, 0 panicked";

fn programs() -> &'static [&'static str] {
    if cfg!(target_os = "linux") { &["per_core_tokio", "per_core_monoio"] } else { &["per_core_tokio"] }
}

/// Two cores; `options` say how long its grace is.
fn start(program: &str, options: &[&str]) -> Service {
    Service::start(program, &[&["--cores", "2"], options].concat())
}

/// With a transaction under way on it.
fn begun(service: &Service) -> Connection {
    let mut connection = service.connect();
    assert_eq!(connection.ask_line("begin"), "begun");
    connection
}

#[test]
fn a_key_lives_on_one_core_whichever_is_asked() {
    const CLIENTS: usize = 8;
    const ROUNDS: usize = 50;
    for program in programs() {
        let mut service = start(program, &[]);
        let asked = thread::scope(|scope| {
            let client = |mut connection: Connection| {
                move || -> Vec<String> {
                    (0..ROUNDS).map(|round| connection.ask_line(&format!("add key-{}", round % 8))).collect()
                }
            };
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client(service.connect()))).collect();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<String>>()
        });
        // No two have the same count of one key: all were counted in one place.
        assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), CLIENTS * ROUNDS);
        let homes: BTreeSet<&str> =
            asked.iter().map(|answer| answer.split_once("counted on ").unwrap().1).collect();
        assert_eq!(homes, BTreeSet::from(["core 0", "core 1"]));
        let answer = service.connect().ask_line("add key-0");
        let count = CLIENTS * ROUNDS.div_ceil(8) + 1;
        assert!(answer.starts_with(&format!("key-0 {count}, counted on core ")), "{answer}");
        service.interrupt();
        assert_eq!(service.summary(), [format!("core 0: {DRAINED}"), format!("core 1: {DRAINED}")]);
    }
}

/// Either signal: idle connections are closed, what is under way is finished, across cores too.
#[test]
fn what_is_under_way_is_finished() {
    for program in programs() {
        for signal in [Signal::INT, Signal::TERM] {
            let mut service = start(program, &["--grace-ms", "600000"]);
            let mut idle = service.connect();
            assert!(idle.ask_line("add idle").starts_with("idle 1,"));
            let mut under_way: Vec<Connection> = (0..8).map(|_| begun(&service)).collect();
            service.signal(signal);
            assert_eq!(service.read_line(), "stopping");
            assert!(idle.is_closed());
            // Each core takes no more as soon as it hears of the end.
            while TcpStream::connect(&service.address).is_ok() {}
            for connection in &mut under_way {
                for key in ["idle", "other"] {
                    let answer = connection.ask_line(&format!("add {key}"));
                    assert!(answer.contains(", counted on core "), "{answer}");
                }
                assert_eq!(connection.ask_line("end"), "ended");
                assert!(connection.is_closed());
            }
            assert_eq!(service.summary(), [format!("core 0: {DRAINED}"), format!("core 1: {DRAINED}")]);
        }
    }
}

#[test]
fn what_is_not_finished_at_the_deadline_is_cut_and_the_exit_code_says_so() {
    for program in programs() {
        let mut service = start(program, &["--grace-ms", "1"]);
        let mut connection = begun(&service);
        service.signal(Signal::TERM);
        assert_eq!(service.read_line(), "stopping");
        assert!(connection.is_closed());
        let (code, mut summary) = service.end();
        assert_eq!(code, Some(1));
        let mut ends: Vec<String> =
            summary.iter_mut().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect();
        ends.sort();
        assert_eq!(ends, [CUT, DRAINED]);
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for program in programs() {
        let mut service = start(program, &["--grace-ms", "600000"]);
        let mut connection = begun(&service);
        service.signal(Signal::TERM);
        assert_eq!(service.read_line(), "stopping");
        service.signal(Signal::INT);
        assert_eq!(service.end(), (Some(2), Vec::new()));
        assert!(connection.is_closed());
    }
}

/// A thread per core, and each may run on that core only.
#[cfg(target_os = "linux")]
#[test]
fn its_threads_are_pinned() {
    for program in programs() {
        let service = start(program, &[]);
        // Each is pinned before it knows of the others, and none answers before all do.
        service.connect().ask_line("add x");
        let mut pinned = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", service.process.id())).unwrap() {
            let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                line.trim_start_matches(':').trim().to_owned()
            };
            if field("Name").starts_with("core ") {
                let allowed = field("Cpus_allowed_list");
                assert!(allowed.parse::<usize>().is_ok(), "{program} may run on {allowed}");
                pinned += 1;
            }
        }
        assert_eq!(pinned, 2);
    }
}
