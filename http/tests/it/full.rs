//! A queue that is full, and one that is closed.

use std::error::Error;
use std::rc::Rc;

use h2::Reason;
use hyper::Version;

use crate::support::{Answer, Client, Server, World, run};

/// What the stream was reset with.
fn reason(answer: Answer) -> Option<Reason> {
    let error = answer.unwrap_err();
    error.source().and_then(|source| source.downcast_ref::<h2::Error>()).and_then(h2::Error::reason)
}

#[test]
fn streams_are_refused_unseen_and_connections_are_closed() {
    run(async |ex| {
        // The connection, and one request.
        let queue = ex.new_queue("requests").max_live(2).create().unwrap();
        let world = Rc::new(World::default());
        let server = Server::start(&queue, world.service()).await;
        let mut client = Client::connect(server.address, Version::HTTP_2).await;
        let first = client.ask("/wait");
        world.until_begun(1).await;
        assert_eq!(reason(client.get("/refused").await), Some(Reason::REFUSED_STREAM));
        let mut other = Client::connect(server.address, Version::HTTP_11).await;
        assert!(other.get("/closed").await.is_err());
        assert_eq!(queue.stats().refused, 2);
        world.release();
        assert_eq!(first.await.unwrap().unwrap(), "/wait");
        assert_eq!(client.get("/again").await.unwrap(), "/again");
        assert_eq!(*world.paths.borrow(), ["/wait", "/again"]);
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}

#[test]
fn so_they_are_where_a_group_is_full() {
    run(async |ex| {
        let queue = ex.new_queue("requests").max_live_per_group(2).create().unwrap();
        let world = Rc::new(World::default());
        let server =
            Server::start_with(&queue, world.service(), |server| server.group_by(|peer| peer.port().into()));
        let server = server.await;
        let mut client = Client::connect(server.address, Version::HTTP_2).await;
        let first = client.ask("/wait");
        world.until_begun(1).await;
        assert_eq!(reason(client.get("/refused").await), Some(Reason::REFUSED_STREAM));
        let mut other = Client::connect(server.address, Version::HTTP_2).await;
        assert_eq!(other.get("/other").await.unwrap(), "/other");
        world.release();
        assert_eq!(first.await.unwrap().unwrap(), "/wait");
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}

/// The server ends as at any other time.
#[test]
fn a_closed_queue_refuses_too() {
    run(async |ex| {
        let queue = ex.new_queue("requests").create().unwrap();
        let world = Rc::new(World::default());
        let server = Server::start(&queue, world.service()).await;
        let mut client = Client::connect(server.address, Version::HTTP_2).await;
        client.get("/").await.unwrap();
        queue.close();
        assert_eq!(reason(client.get("/refused").await), Some(Reason::REFUSED_STREAM));
        let mut other = Client::connect(server.address, Version::HTTP_11).await;
        assert!(other.get("/closed").await.is_err());
        assert_eq!(*world.paths.borrow(), ["/"]);
        assert_eq!(server.stop().await.unwrap(), 0);
    });
}
