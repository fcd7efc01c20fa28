//! Starts the service under both executors, with and without compaction, asks it over several connections, and stops it.
//!
//! Nothing here depends on how fast that is: who waits, waits for an event.

#![forbid(unsafe_code)]
// To stop the service as ctrl-c does takes a signal.
#![cfg(unix)]

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// The service, started. Killed when dropped, so that a test that fails leaves nothing behind.
struct Service {
    process: Child,
    stdout: BufReader<ChildStdout>,
    address: String,
}

impl Service {
    fn start(options: &[&str]) -> Self {
        let mut command = Command::new(program::path("http_service"));
        // Fewer keys than by default: filling the store takes its time in a debug build.
        command.args(["--keys", "2000", "--chunk", "10"]).args(options).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let mut service = Self { process, stdout, address: String::new() };
        let line = service.read_line();
        service.address = line.strip_prefix("listening on http://").expect(&line).to_owned();
        service
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn connect(&self) -> Connection {
        Connection { stream: BufReader::new(TcpStream::connect(&self.address).unwrap()) }
    }

    /// What ctrl-c does. Returns when the service takes no more connections.
    fn interrupt(&mut self) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
        assert_eq!(self.read_line(), "stopping");
    }

    /// Waits for its end. What it printed since.
    fn summary(mut self) -> Vec<String> {
        let mut summary = String::new();
        self.stdout.read_to_string(&mut summary).unwrap();
        assert!(self.process.wait().unwrap().success(), "{summary}");
        summary.lines().map(str::to_owned).collect()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that is kept open between requests.
struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Status and body of the answer.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        self.answer()
    }

    fn send(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn answer(&mut self) -> (u16, String) {
        let (mut status, mut length) = (None, 0);
        loop {
            let mut line = String::new();
            assert_ne!(self.stream.read_line(&mut line).unwrap(), 0, "the connection was closed");
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            status = status.or_else(|| line.split(' ').nth(1).map(|status| status.parse().unwrap()));
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (status.unwrap(), String::from_utf8(body).unwrap())
    }

    /// One of the numbers in `GET /stats`.
    fn stat(&mut self, name: &str) -> u64 {
        let (status, json) = self.ask("GET", "/stats", "");
        assert_eq!(status, 200);
        let (_, rest) = json.split_once(&format!("\"{name}\":")).expect(&json);
        rest.split([',', '}']).next().unwrap().parse().unwrap()
    }

    /// Whether the service has closed it, with nothing left to read.
    fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0))
    }
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
    let mut service = Service::start(&["--executor", executor, "--compactors", compactors]);
    let mut observer = service.connect();
    let before = observer.stat("chunks");
    thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let connection = service.connect();
            scope.spawn(move || client(connection, number));
        }
    });
    if compactors == "0" {
        assert_eq!(observer.stat("chunks"), 0);
    } else {
        // It goes on, and gets through: what was written by now is merged some time.
        while observer.stat("chunks") <= before + 100 || observer.stat("merges") < 64 {}
    }
    let value = observer.ask("GET", "/client-3.round-5", "");
    assert_eq!(value, (200, "3's value of round 5".to_owned()));
    assert_eq!(observer.stat("errors"), CONNECTIONS * ROUNDS * ERRORS);
    assert_eq!(observer.stat("corrupt"), 0);
    let answered = observer.stat("requests");
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
fn local_set_without_compaction() {
    assert_eq!(exercise("localset", "0").len(), 2);
}

#[test]
fn local_set_with_compaction() {
    assert_eq!(exercise("localset", "8").len(), 2);
}

#[test]
fn clockworker_without_compaction() {
    let summary = exercise("clockworker", "0");
    let [_, _, _, requests, host] = &summary[..] else { panic!("{summary:?}") };
    assert!(requests.starts_with("requests        19"), "{summary:?}");
    assert!(host.starts_with("preempted "), "{summary:?}");
}

#[test]
fn clockworker_with_compaction() {
    let summary = exercise("clockworker", "8");
    let [_, _, _, requests, compaction, _] = &summary[..] else { panic!("{summary:?}") };
    assert!(requests.starts_with("requests        19"), "{summary:?}");
    assert!(compaction.starts_with("compaction       1"), "{summary:?}");
}

/// A request that has begun when the service is told to stop is answered.
#[test]
fn what_is_under_way_is_finished() {
    for executor in ["localset", "clockworker"] {
        let mut service = Service::start(&["--executor", executor]);
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
    let mut service = Service::start(&["--compactors", "0"]);
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

/// By itself, too.
#[test]
fn it_stops_when_its_seconds_are_over() {
    for executor in ["localset", "clockworker"] {
        let mut service = Service::start(&["--executor", executor, "--seconds", "1"]);
        assert_eq!(service.read_line(), "stopping");
        assert_eq!(service.summary()[0], "0 requests, 0 errors, 0 broken connections");
    }
}
