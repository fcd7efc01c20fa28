//! The hosts in which a server may run.

use std::rc::Rc;

use clockworker::Executor;
use tokio::runtime::{Builder, LocalOptions};

use crate::support::{Client, Server, VERSIONS, World};

/// A server, its clients, and its end.
async fn serves(ex: &Executor) {
    let queue = ex.new_queue("requests").share(9).create().unwrap();
    let world = Rc::new(World::default());
    let server = Server::start(&queue, world.service()).await;
    let mut tasks = 0;
    for version in VERSIONS {
        let mut client = Client::connect(server.address, version).await;
        assert_eq!(client.get("/one").await.unwrap(), "/one");
        assert_eq!(client.get("/two").await.unwrap(), "/two");
        // The connection, and over HTTP/2 each request.
        tasks += if version == VERSIONS[1] { 3 } else { 1 };
        assert_eq!(queue.stats().spawned, tasks, "{version:?}");
    }
    assert_eq!(server.stop().await.unwrap(), 0);
    assert_eq!((queue.stats().completed, queue.stats().live), (tasks, 0));
    // All that held the service is gone.
    assert_eq!(Rc::strong_count(&world), 1);
}

#[test]
fn current_thread() {
    let ex = Executor::new();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(ex.run_until(serves(&ex)));
}

#[test]
fn local_runtime() {
    let rt = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    let ex = Executor::new();
    rt.block_on(ex.run_until(serves(&ex)));
}

#[test]
fn multi_thread() {
    let rt = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ex = Executor::new();
    rt.block_on(ex.run_until(serves(&ex)));
}

#[test]
#[should_panic(expected = "timers are disabled")]
fn without_timers_it_says_so_at_once() {
    let rt = Builder::new_current_thread().enable_io().build().unwrap();
    let ex = Executor::new();
    let world = Rc::new(World::default());
    rt.block_on(ex.run_until(async {
        let server = Server::start(ex.default_queue(), world.service()).await;
        server.served.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }));
}
