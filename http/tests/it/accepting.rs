//! Listeners that fail.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::pending;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::time::Duration;

use clockworker_http::{Listener, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use crate::support::{World, run};

/// Gives what it was given, in order.
struct Script(Rc<RefCell<VecDeque<io::Result<DuplexStream>>>>);

impl Listener for Script {
    type Io = DuplexStream;
    type Peer = ();

    async fn accept(&mut self) -> io::Result<(DuplexStream, ())> {
        let next = self.0.borrow_mut().pop_front();
        match next {
            Some(next) => next.map(|stream| (stream, ())),
            None => pending().await,
        }
    }
}

/// The answer to a request, after the errors, and when it came.
fn answered_after(errors: impl IntoIterator<Item = io::Error>) -> Duration {
    run(async |ex| {
        let (mut client, stream) = tokio::io::duplex(1 << 10);
        let script = errors.into_iter().map(Err).chain([Ok(stream)]).collect();
        let world = Rc::new(World::default());
        let listener = Script(Rc::new(RefCell::new(script)));
        let began = Instant::now();
        let served = ex.spawn(serve(listener, world.service(), ex.default_queue()).into_future());
        client.write_all(b"GET /x HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("/x"), "{answer}");
        let elapsed = began.elapsed();
        served.abort();
        elapsed
    })
}

#[test]
fn no_file_descriptors_left_is_waited_for() {
    let none_left = || io::Error::from_raw_os_error(24);
    assert_eq!(answered_after([none_left(), none_left()]), Duration::from_millis(200));
}

#[test]
fn a_connections_own_failure_is_not() {
    let kinds = [ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset, ErrorKind::ConnectionRefused];
    assert_eq!(answered_after(kinds.map(io::Error::from)), Duration::ZERO);
}

/// A connection that ends leaves a descriptor.
#[test]
fn the_end_of_a_connection_ends_the_wait() {
    run(async |ex| {
        let (mut first, stream) = tokio::io::duplex(1 << 10);
        let (mut second, last) = tokio::io::duplex(1 << 10);
        let script = VecDeque::from([Ok(stream), Err(io::Error::from_raw_os_error(24)), Ok(last)]);
        let world = Rc::new(World::default());
        let listener = Script(Rc::new(RefCell::new(script)));
        let began = Instant::now();
        let served = ex.spawn(serve(listener, world.service(), ex.default_queue()).into_future());
        first.write_all(b"GET /first HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
        first.read_u8().await.unwrap();
        drop(first);
        second.write_all(b"GET /second HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
        second.read_u8().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
        served.abort();
    });
}
