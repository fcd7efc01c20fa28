//! The signal, the deadline, and a server that is dropped.

use std::rc::Rc;
use std::time::Duration;

use hyper::Version;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::support::{Client, Server, VERSIONS, World, run};

#[test]
fn idle_connections_are_closed_at_the_signal() {
    run(async |ex| {
        let world = Rc::new(World::default());
        let server = Server::start(ex.default_queue(), world.service()).await;
        // One that has sent nothing yet, and one that is in the middle of a request's head.
        let mut silent = TcpStream::connect(server.address).await.unwrap();
        let mut clients = Vec::new();
        for version in VERSIONS {
            let mut client = Client::connect(server.address, version).await;
            assert_eq!(client.get("/").await.unwrap(), "/");
            clients.push(client);
        }
        let address = server.address;
        assert_eq!(server.stop().await.unwrap(), 0);
        for client in clients {
            client.closed().await.unwrap();
        }
        assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
        assert!(TcpStream::connect(address).await.is_err());
    });
}

#[test]
fn a_request_under_way_is_answered() {
    for version in VERSIONS {
        run(async |ex| {
            let world = Rc::new(World::default());
            let server = Server::start(ex.default_queue(), world.service()).await;
            let mut client = Client::connect(server.address, version).await;
            let answer = client.ask("/wait");
            world.until_begun(1).await;
            let served = server.stop();
            clockworker::yield_now().await;
            world.release();
            assert_eq!(answer.await.unwrap().unwrap(), "/wait");
            client.closed().await.unwrap();
            assert_eq!(served.await.unwrap(), 0);
        });
    }
}

/// A request whose head is not there yet has begun: its answer says that the connection ends.
#[test]
fn half_a_request_is_answered() {
    run(async |ex| {
        let world = Rc::new(World::default());
        let server = Server::start(ex.default_queue(), world.service()).await;
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(b"GET /wait HTTP/1.1\r\nHost: test\r\n\r\nGET /second").await.unwrap();
        world.until_begun(1).await;
        let served = server.stop();
        world.release();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("/wait"), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
        assert_eq!(served.await.unwrap(), 0);
    });
}

#[test]
fn clients_of_http2_are_told_by_goaway() {
    run(async |ex| {
        let world = Rc::new(World::default());
        let server = Server::start(ex.default_queue(), world.service()).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        let connection = clockworker::spawn_local(connection);
        let request = hyper::Request::get("http://test/wait").body(()).unwrap();
        let (answer, _) = sender.clone().ready().await.unwrap().send_request(request, true).unwrap();
        world.until_begun(1).await;
        let served = server.stop();
        let told = loop {
            match sender.clone().ready().await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => break error,
            }
        };
        assert!(told.is_go_away() && told.is_remote());
        assert_eq!(told.reason(), Some(h2::Reason::NO_ERROR));
        world.release();
        assert_eq!(answer.await.unwrap().status(), 200);
        assert_eq!(served.await.unwrap(), 0);
        drop(sender);
        let _ = connection.await.unwrap();
    });
}

#[test]
fn at_the_deadline_what_is_left_is_aborted_and_counted() {
    for (version, requests) in [(VERSIONS[0], 1), (Version::HTTP_2, 3)] {
        run(async |ex| {
            let queue = ex.new_queue("requests").create().unwrap();
            let world = Rc::new(World::default());
            let deadline = Duration::from_secs(10);
            let server =
                Server::start_with(&queue, world.service(), |server| server.drain_deadline(deadline)).await;
            let mut idle = Client::connect(server.address, version).await;
            idle.get("/").await.unwrap();
            let mut client = Client::connect(server.address, version).await;
            let answers = Vec::from_iter((0..requests).map(|_| client.ask("/wait")));
            world.until_begun(requests).await;
            let signal = Instant::now();
            assert_eq!(server.stop().await.unwrap(), 1, "connections, not requests");
            assert_eq!(signal.elapsed(), deadline);
            // Nothing of it is left.
            assert_eq!((world.dropped.get(), queue.stats().live, Rc::strong_count(&world)), (requests, 0, 1));
            for answer in answers {
                assert!(answer.await.unwrap().is_err());
            }
        });
    }
}

#[test]
fn what_is_done_in_time_is_not_aborted() {
    run(async |ex| {
        let world = Rc::new(World::default());
        let deadline = Duration::from_secs(10);
        let service = world.service();
        let server =
            Server::start_with(ex.default_queue(), service, |server| server.drain_deadline(deadline)).await;
        let mut client = Client::connect(server.address, Version::HTTP_2).await;
        let answer = client.ask("/wait");
        world.until_begun(1).await;
        let (signal, served) = (Instant::now(), server.stop());
        tokio::time::sleep(deadline - Duration::from_millis(1)).await;
        world.release();
        assert_eq!(answer.await.unwrap().unwrap(), "/wait");
        assert_eq!(served.await.unwrap(), 0);
        assert!(signal.elapsed() < deadline);
    });
}

#[test]
fn a_server_that_is_dropped_closes_all() {
    for version in VERSIONS {
        run(async |ex| {
            let queue = ex.new_queue("requests").create().unwrap();
            let world = Rc::new(World::default());
            let server = Server::start(&queue, world.service()).await;
            let mut client = Client::connect(server.address, version).await;
            let answer = client.ask("/wait");
            world.until_begun(1).await;
            server.served.abort();
            world.until_dropped(1).await;
            assert!(answer.await.unwrap().is_err());
            assert!(TcpStream::connect(server.address).await.is_err());
            assert!(server.served.await.unwrap_err().is_cancelled());
        });
    }
}

#[test]
fn an_executor_that_is_dropped_drops_all() {
    let world = Rc::new(World::default());
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ex = clockworker::Executor::new();
    rt.block_on(ex.run_until(async {
        let server = Server::start(ex.default_queue(), world.service()).await;
        for version in VERSIONS {
            Client::connect(server.address, version).await.ask("/wait");
        }
        world.until_begun(2).await;
    }));
    drop(ex);
    assert_eq!((world.dropped.get(), Rc::strong_count(&world)), (2, 1));
}

/// A websocket and the like: the server does not wait for it, and leaves it alone.
#[test]
fn an_upgraded_connection_belongs_to_whoever_upgraded_it() {
    run(async |ex| {
        let service = tower::service_fn(async |mut request: hyper::Request<hyper::body::Incoming>| {
            let upgrade = hyper::upgrade::on(&mut request);
            clockworker::spawn_local(async {
                let mut echo = hyper_util::rt::TokioIo::new(upgrade.await.unwrap());
                let mut byte = [0];
                while echo.read(&mut byte).await.unwrap() == 1 {
                    echo.write_all(&byte).await.unwrap();
                }
            });
            let answer = hyper::Response::builder().status(101).header("upgrade", "echo");
            Ok::<_, std::convert::Infallible>(answer.body(String::new()).unwrap())
        });
        let server = Server::start(ex.default_queue(), service).await;
        let mut client = TcpStream::connect(server.address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
        client.write_all(request).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "));
        assert_eq!(server.stop().await.unwrap(), 0);
        client.write_u8(b'x').await.unwrap();
        assert_eq!(client.read_u8().await.unwrap(), b'x');
    });
}
