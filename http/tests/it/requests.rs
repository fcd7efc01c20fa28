//! Requests that end in other ways than by an answer.

use std::rc::Rc;

use hyper::Version;

use crate::support::{Client, Server, VERSIONS, World, run};

#[test]
fn a_panic_ends_its_connection_over_http1() {
    run(async |ex| {
        let queue = ex.new_queue("requests").create().unwrap();
        let world = Rc::new(World::default());
        let server = Server::start(&queue, world.service()).await;
        let mut other = Client::connect(server.address, Version::HTTP_11).await;
        let mut client = Client::connect(server.address, Version::HTTP_11).await;
        assert!(client.get("/panic").await.is_err());
        assert_eq!(other.get("/").await.unwrap(), "/");
        assert_eq!(queue.stats().panicked, 1);
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}

#[test]
fn a_panic_ends_its_request_over_http2() {
    run(async |ex| {
        let queue = ex.new_queue("requests").create().unwrap();
        let world = Rc::new(World::default());
        let server = Server::start(&queue, world.service()).await;
        let mut client = Client::connect(server.address, Version::HTTP_2).await;
        let other = client.ask("/wait");
        world.until_begun(1).await;
        assert!(client.get("/panic").await.is_err());
        world.release();
        assert_eq!(other.await.unwrap().unwrap(), "/wait");
        assert_eq!(queue.stats().panicked, 1);
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}

#[test]
fn a_request_whose_client_is_gone_is_dropped() {
    for version in VERSIONS {
        run(async |ex| {
            let queue = ex.new_queue("requests").create().unwrap();
            let world = Rc::new(World::default());
            let server = Server::start(&queue, world.service()).await;
            let mut other = Client::connect(server.address, version).await;
            let clients = ex.new_queue("clients").create().unwrap();
            let address = server.address;
            clients.spawn(async move {
                let _ = Client::connect(address, version).await.ask("/wait").await;
            });
            world.until_begun(1).await;
            clients.abort_all();
            world.until_dropped(1).await;
            assert_eq!(other.get("/").await.unwrap(), "/");
            assert_eq!(server.stop().await.unwrap(), 0);
            assert_eq!((queue.stats().cancelled, queue.stats().live), (0, 0));
        });
    }
}

/// Over HTTP/2 a client gives up one request, and goes on with others.
#[test]
fn a_request_that_is_given_up_is_dropped() {
    run(async |ex| {
        let world = Rc::new(World::default());
        let server = Server::start(ex.default_queue(), world.service()).await;
        let mut client = Client::connect(server.address, Version::HTTP_2).await;
        let answer = client.ask("/wait");
        world.until_begun(1).await;
        answer.abort();
        world.until_dropped(1).await;
        assert_eq!(client.get("/").await.unwrap(), "/");
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}
