//! Inside monoio.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker::Executor;

use crate::io::{Io, MESSAGE};

struct MonoioIo;

impl Io for MonoioIo {
    async fn sleep(time: Duration) {
        monoio::time::sleep(time).await;
    }

    async fn echo(messages: u32) {
        use monoio::io::{AsyncReadRentExt, AsyncWriteRentExt};
        use monoio::net::{TcpListener, TcpStream};

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = clockworker::spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; MESSAGE.len()];
            for _ in 0..messages {
                let (result, read) = stream.read_exact(buffer).await;
                result.unwrap();
                let (result, written) = stream.write_all(read).await;
                result.unwrap();
                buffer = written;
            }
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        for _ in 0..messages {
            let (result, _) = stream.write_all(MESSAGE.to_vec()).await;
            result.unwrap();
            let (result, answer) = stream.read_exact(vec![0; MESSAGE.len()]).await;
            result.unwrap();
            assert_eq!(answer, MESSAGE);
        }
        server.await.unwrap();
    }
}

/// As it comes: beside a busy executor monoio serves its sockets, but fires no timers (monoio issue 370). So the tests of
/// those are below.
mod legacy {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let mut host = monoio::RuntimeBuilder::<monoio::LegacyDriver>::new().enable_timer().build().unwrap();
        host.block_on(ex.run_until(body(Rc::clone(&ex))));
    }

    every_host_can!(run, super::MonoioIo);
}

mod io_uring {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        if let Some(mut host) = io_uring() {
            host.block_on(ex.run_until(body(Rc::clone(&ex))));
        }
    }

    every_host_can!(run, super::MonoioIo);
}

/// Where the kernel has no io_uring for us (containers often forbid it) there is nothing to test.
fn io_uring() -> Option<monoio::Runtime<monoio::time::TimeDriver<monoio::IoUringDriver>>> {
    let build = || monoio::RuntimeBuilder::<monoio::IoUringDriver>::new().enable_timer().build().unwrap();
    monoio::utils::detect_uring().then(build)
}

#[cfg(feature = "monoio")]
mod legacy_with_timers {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        let mut host = monoio::RuntimeBuilder::<monoio::LegacyDriver>::new().enable_timer().build().unwrap();
        host.block_on(clockworker::monoio::with_timers(ex.run_until(body(Rc::clone(&ex))))).unwrap();
    }

    every_host_can!(run, super::MonoioIo);
    timers_fire_beside_computation!(run, super::MonoioIo);
    timers_fire_after_the_turn!(run, super::MonoioIo);
}

#[cfg(feature = "monoio")]
mod io_uring_with_timers {
    use super::*;

    fn run<F: Future<Output = ()> + 'static>(ex: Rc<Executor>, body: fn(Rc<Executor>) -> F) {
        if let Some(mut host) = io_uring() {
            host.block_on(clockworker::monoio::with_timers(ex.run_until(body(Rc::clone(&ex))))).unwrap();
        }
    }

    every_host_can!(run, super::MonoioIo);
    timers_fire_beside_computation!(run, super::MonoioIo);
    timers_fire_after_the_turn!(run, super::MonoioIo);
}
