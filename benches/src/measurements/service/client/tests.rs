//! The client against servers of a few lines.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::thread;

use super::*;
use crate::random::gap;

const SIZE: usize = 100;
const WINDOW: Duration = Duration::from_millis(20);

/// Serves so many connections, a thread each.
fn serve(connections: usize, serve: impl Fn(Std) -> io::Result<()> + Copy + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    address
}

fn echo(mut stream: Std) -> io::Result<()> {
    let mut buffer = [0; 4_099];
    loop {
        let read = stream.read(&mut buffer)?;
        stream.write_all(&buffer[..read])?;
    }
}

/// Messages of `size` bytes, two for each connection, that are to come back.
fn connect(address: SocketAddr, connections: usize, size: usize) -> Result<Client> {
    let message = |letter: &str| (letter.repeat(size), letter.repeat(size));
    let dialogue: Dialogue = Rc::new(["a", "b"].map(message));
    Client::connect(address, &vec![dialogue; connections], 1, false, None)
}

#[test]
fn everything_that_is_sent_comes_back_in_any_pieces() {
    // The server answers these in pieces; the largest do not fit into buffers, and are sent in pieces too.
    for (size, rate) in [(SIZE, 20_000.0), (5_000, 5_000.0), (4 << 20, 50.0)] {
        let mut client = connect(serve(3, echo), 3, size).unwrap();
        client.closed(WINDOW).unwrap();
        client.settle().unwrap();
        let schedule = Schedule::draw(1, 1, (rate, gap), 3, WINDOW);
        let open = client.open(&schedule, PATIENCE).unwrap();
        assert!(open.latencies.iter().all(Option::is_some));
        assert_eq!([open.latencies.len(), open.lateness.len()], [schedule.counted(); 2]);
    }
}

#[test]
fn what_does_not_come_back_has_no_end() {
    // The message of the connection's beginning comes back, the rest is swallowed.
    let address = serve(1, |mut stream| {
        let mut message = [0; SIZE];
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
        while stream.read(&mut message)? > 0 {}
        Ok(())
    });
    let mut client = connect(address, 1, SIZE).unwrap();
    let schedule = Schedule::draw(1, 1, (10_000.0, gap), 1, WINDOW);
    let open = client.open(&schedule, Duration::ZERO).unwrap();
    assert_eq!(open.latencies, vec![None; schedule.counted()]);
}

#[test]
fn what_is_no_echo_is_a_failure() {
    type Answer = fn(&mut Vec<u8>);
    let wrong: [(Answer, &str); 3] = [
        (|message| message.truncate(SIZE - 1), "the server closed it"),
        (|message| message[SIZE / 2] ^= 1, "something else came back than was to"),
        (|message| message.push(0), "more came back than was sent"),
    ];
    for (answer, reason) in wrong {
        let address = serve(1, move |mut stream| {
            let mut message = vec![0; SIZE];
            stream.read_exact(&mut message)?;
            answer(&mut message);
            stream.write_all(&message)
        });
        let failure = connect(address, 1, SIZE).err().map(|failure| format!("{failure:#}"));
        assert_eq!(failure, Some(format!("connection 0 to a server: {reason}")));
    }
}
