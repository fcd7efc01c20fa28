//! The client against servers of a few lines.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use super::*;
use crate::serving::pattern::Pattern;
use crate::stats::latencies::is_worst;

const SIZE: usize = 100;
const WINDOW: Duration = Duration::from_millis(20);

/// Serves so many connections, a thread each.
fn serve(connections: usize, serve: fn(Std) -> std::io::Result<()>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    address
}

fn echo(mut stream: Std) -> std::io::Result<()> {
    let mut buffer = [0; 64];
    loop {
        let read = stream.read(&mut buffer)?;
        stream.write_all(&buffer[..read])?;
    }
}

fn connect(address: SocketAddr, connections: usize) -> Result<Client<Pattern>, Failure> {
    Client::connect(address, connections, Pattern::new(1, SIZE), false)
}

#[test]
fn everything_that_is_sent_comes_back() {
    let mut client = connect(serve(3, echo), 3).unwrap();
    let closed = client.closed(WINDOW).unwrap();
    assert!(closed.elapsed >= WINDOW);
    client.settle().unwrap();
    let schedule = Schedule::draw(1, 1, 20_000.0, 3, WINDOW);
    let open = client.open(&schedule, PATIENCE).unwrap();
    assert_eq!(open.latencies.missing(), 0);
    assert_eq!(open.latencies.count(), schedule.counted());
    assert_eq!(open.lateness.count(), schedule.counted());
}

#[test]
fn what_does_not_come_back_is_the_worst() {
    // The message of the connection's beginning comes back, the rest is swallowed.
    let address = serve(1, |mut stream| {
        let mut message = [0; SIZE];
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
        while stream.read(&mut message)? > 0 {}
        Ok(())
    });
    let mut client = connect(address, 1).unwrap();
    let schedule = Schedule::draw(1, 1, 10_000.0, 1, WINDOW);
    let open = client.open(&schedule, Duration::ZERO).unwrap();
    assert_eq!(open.latencies.missing(), schedule.counted());
    assert_eq!(open.latencies.count(), schedule.counted());
    assert!(is_worst(open.latencies.at(0.001) as u64));
}

#[test]
fn a_short_echo_is_a_failure() {
    let address = serve(1, |mut stream| {
        let mut message = [0; SIZE];
        stream.read_exact(&mut message)?;
        stream.write_all(&message[..SIZE - 1])
    });
    let failure = connect(address, 1).unwrap_err().to_string();
    assert!(failure.ends_with("the server closed it"), "{failure}");
}

#[test]
fn a_wrong_echo_is_a_failure() {
    let address = serve(1, |mut stream| {
        let mut message = [0; SIZE];
        stream.read_exact(&mut message)?;
        message[SIZE / 2] ^= 1;
        stream.write_all(&message)?;
        stream.read_exact(&mut message)
    });
    let failure = connect(address, 1).unwrap_err().to_string();
    assert!(failure.ends_with("something else came back than was to"), "{failure}");
}
