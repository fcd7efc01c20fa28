//! Stops the example `shutdown` as an orchestrator does, with uploads under way.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod program;
#[allow(dead_code, reason = "each test file uses a part")]
mod service;

use std::net::TcpStream;

use rustix::process::Signal;
use service::{Connection, Service};

const WORDS: &str = "one two\nthree\n";

/// A request whose handler has begun to read its body.
fn begin_upload(service: &Service) -> Connection {
    let mut upload = service.connect();
    let length = WORDS.len();
    upload.send(&format!(
        "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    ));
    assert_eq!(upload.answer(), (100, String::new()));
    upload
}

fn terminate(service: &mut Service) {
    service.signal(Signal::TERM);
    assert_eq!(service.read_line(), "not ready");
}

#[test]
fn requests_under_way_finish_and_may_spawn() {
    let mut service = Service::start("shutdown", &["--notice", "0"]);
    let mut idle = service.connect();
    assert_eq!(idle.ask("GET", "/ready", ""), (200, String::new()));
    let mut upload = begin_upload(&service);
    terminate(&mut service);
    assert_eq!(service.read_line(), "stopping");
    assert!(TcpStream::connect(&service.address).is_err(), "nothing is accepted any more");
    assert!(idle.is_closed());
    upload.send(WORDS);
    assert_eq!(upload.answer(), (200, "3 words".to_owned()));
    assert!(upload.is_closed());
    // Two connections, the closing of them, and a task for each line.
    assert_eq!(
        service.end(),
        (Some(0), vec!["drained: 5 tasks completed, 0 cancelled, 0 panicked".to_owned()])
    );
}

#[test]
fn until_the_balancer_has_noticed_connections_are_accepted() {
    let mut service = Service::start("shutdown", &["--notice", "600000"]);
    terminate(&mut service);
    let mut late = service.connect();
    assert_eq!(late.ask("GET", "/ready", ""), (503, String::new()));
    assert_eq!(late.ask("POST", "/", WORDS), (200, "3 words".to_owned()));
    let mut upload = begin_upload(&service);
    service.signal(Signal::TERM);
    assert!(upload.is_closed() && late.is_closed());
    let (code, said) = service.end();
    assert_eq!((code, said.len()), (Some(1), 2), "{said:?}");
    assert!(said[1].starts_with("deadline passed: "), "{said:?}");
}

#[test]
fn what_hangs_is_cancelled_at_the_deadline_or_by_a_second_signal() {
    for (grace, signals) in [("1", 1), ("600000", 2)] {
        let mut service = Service::start("shutdown", &["--notice", "0", "--grace", grace]);
        let mut upload = begin_upload(&service);
        terminate(&mut service);
        assert_eq!(service.read_line(), "stopping");
        if signals == 2 {
            service.signal(Signal::TERM);
        }
        assert!(upload.is_closed());
        // The connection, and the closing of it.
        let said = vec!["deadline passed: 0 tasks completed, 2 cancelled, 0 panicked".to_owned()];
        assert_eq!(service.end(), (Some(1), said));
    }
}
