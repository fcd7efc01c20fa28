//! Starts the service under both executors, with and without compaction, asks it over several connections, and stops it.
//!
//! Nothing here depends on how fast that is: who waits, waits for an event.

#![forbid(unsafe_code)]
// To stop the service as ctrl-c does takes a signal.
#![cfg(unix)]

mod program;
#[allow(dead_code, reason = "each test file uses a part")]
mod service;

use std::thread;

use service::{Connection, Service};

/// Fewer keys than by default: filling the store takes its time in a debug build.
fn start(options: &[&str]) -> Service {
    Service::start("http_service", &[&["--keys", "2000", "--chunk", "10"], options].concat())
}

/// One of the numbers in `GET /stats`.
fn stat(connection: &mut Connection, name: &str) -> u64 {
    let (status, json) = connection.ask("GET", "/stats", "");
    assert_eq!(status, 200);
    let (_, rest) = json.split_once(&format!("\"{name}\":")).expect(&json);
    rest.split([',', '}']).next().unwrap().parse().unwrap()
}

const CONNECTIONS: u64 = 8;
const ROUNDS: u64 = 20;
/// What one round of a client asks, of which are errors.
const REQUESTS: u64 = 7;
const ERRORS: u64 = 4;

/// One connection's requests.
fn client(mut connection: Connection, client: u64) {
    for round in 0..ROUNDS {
        let key = format!("/client-{client}.round-{round}");
        let value = format!("{client}'s value of round {round}");
        let not_there = (404, "no such key".to_owned());
        assert_eq!(connection.ask("GET", &key, ""), not_there);
        assert_eq!(connection.ask("PUT", &key, &value), (204, String::new()));
        assert_eq!(connection.ask("GET", &key, ""), (200, value));
        assert_eq!(connection.ask("DELETE", &key, "").0, 405);
        assert_eq!(connection.ask("GET", "/", "").0, 400);
        assert_eq!(connection.ask("PUT", "/stats", "1").0, 405);
        let (status, value) = connection.ask("GET", &format!("/key-{round:06}"), "");
        assert_eq!((status, value.len()), (200, 100));
    }
}

/// Clients at the same time, then a stop. The summary.
fn exercise(executor: &str, compactors: &str) -> Vec<String> {
    let mut service = start(&["--executor", executor, "--compactors", compactors]);
    let mut observer = service.connect();
    let before = stat(&mut observer, "chunks");
    thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let connection = service.connect();
            scope.spawn(move || client(connection, number));
        }
    });
    if compactors == "0" {
        assert_eq!(stat(&mut observer, "chunks"), 0);
    } else {
        // It goes on, and gets through: what was written by now is merged some time.
        while stat(&mut observer, "chunks") <= before + 100 || stat(&mut observer, "merges") < 64 {}
    }
    let value = observer.ask("GET", "/client-3.round-5", "");
    assert_eq!(value, (200, "3's value of round 5".to_owned()));
    assert_eq!(stat(&mut observer, "errors"), CONNECTIONS * ROUNDS * ERRORS);
    assert_eq!(stat(&mut observer, "corrupt"), 0);
    let answered = stat(&mut observer, "requests");
    assert!(answered > CONNECTIONS * ROUNDS * REQUESTS, "{answered}");
    service.interrupt();
    // Nothing is under way on it.
    assert!(observer.is_closed());
    let summary = service.summary();
    let requests =
        format!("{} requests, {} errors, 0 broken connections", answered + 1, CONNECTIONS * ROUNDS * ERRORS);
    assert_eq!(summary[0], requests);
    assert_eq!(summary[1].starts_with("0 chunks of compaction, 0 shards compacted"), compactors == "0");
    summary
}

#[test]
fn it_answers_under_both_executors_with_and_without_compaction() {
    assert_eq!(exercise("localset", "0").len(), 2);
    assert_eq!(exercise("localset", "8").len(), 2);
    let summary = exercise("clockworker", "0");
    let [_, _, _, requests, host] = &summary[..] else { panic!("{summary:?}") };
    assert!(requests.starts_with("requests        19") && host.starts_with("preempted "), "{summary:?}");
    let summary = exercise("clockworker", "8");
    let [_, _, _, requests, compaction, _] = &summary[..] else { panic!("{summary:?}") };
    assert!(requests.starts_with("requests        19"), "{summary:?}");
    assert!(compaction.starts_with("compaction       1"), "{summary:?}");
}

/// A request that has begun when the service is told to stop is answered.
#[test]
fn what_is_under_way_is_finished() {
    for executor in ["localset", "clockworker"] {
        let mut service = start(&["--executor", executor]);
        let mut connection = service.connect();
        connection
            .send("PUT /late HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        // Now it waits for the value.
        assert_eq!(connection.answer().0, 100);
        service.interrupt();
        connection.send("value");
        assert_eq!(connection.answer().0, 204);
        assert!(connection.is_closed());
        assert_eq!(service.summary()[0], "1 requests, 0 errors, 0 broken connections");
    }
}

/// What is not a value is refused, and the service goes on.
#[test]
fn a_value_may_be_too_large() {
    let mut service = start(&["--compactors", "0"]);
    let value = "x".repeat(64 * 1024);
    let mut connection = service.connect();
    assert_eq!(connection.ask("PUT", "/large", &value).0, 204);
    assert_eq!(connection.ask("GET", "/large", ""), (200, value));
    let larger = "x".repeat(64 * 1024 + 1);
    assert_eq!(connection.ask("PUT", "/larger", &larger).0, 413);
    assert_eq!(service.connect().ask("GET", "/larger", "").0, 404);
    service.interrupt();
    assert_eq!(service.summary()[0], "4 requests, 2 errors, 0 broken connections");
}
