//! What programs share: a fresh set in a fresh host, and what is done there more than once.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use super::task::{LocalSet, spawn_local};
use crate::arms::tokio::{boxed, host};
use crate::harness::Sample;
use crate::measurements::programs::clients::ANY_PORT;
use crate::measurements::programs::{LATENCY, TIME};
use crate::stopwatch::Stopwatch;

/// Runs `main` and its tasks. What is left of them is dropped before the host is.
pub(super) fn run<F: Future>(main: F) -> F::Output {
    let host = host();
    let local = LocalSet::new();
    local.block_on(&host, boxed(main))
}

pub(super) fn timed(main: impl Future<Output = ()>) -> Sample {
    run(async {
        let watch = Stopwatch::start();
        main.await;
        Sample::default().number(TIME, watch.nanos())
    })
}

pub(super) fn timed_in_task(main: impl Future<Output = ()> + 'static) -> Sample {
    timed(async { spawn_local(main).await.expect("the task does not fail") })
}

/// The time until all clients are served, with their latencies.
pub(super) async fn timed_with_latencies(clients: impl Future<Output = Vec<Duration>>) -> Sample {
    let watch = Stopwatch::start();
    let latencies = clients.await;
    Sample::default().number(TIME, watch.nanos()).waits(LATENCY, latencies.into_iter().map(Some))
}

pub(super) async fn spawn_all<F: Future<Output: 'static> + 'static>(
    tasks: usize,
    task: impl FnMut(usize) -> F,
) {
    for handle in (0..tasks).map(task).map(spawn_local).collect::<Vec<_>>() {
        handle.await.expect("no task fails");
    }
}

pub(super) async fn listen<F: Future<Output: 'static> + 'static>(
    mut serve: impl FnMut(TcpStream) -> F + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(ANY_PORT).await.expect("there is a port");
    let address = listener.local_addr().expect("it is bound");
    drop(spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("connections are accepted");
            drop(spawn_local(serve(stream)));
        }
    }));
    address
}
