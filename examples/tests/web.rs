//! Asks the web examples as clients do: over HTTP/1 and HTTP/2, several at the same time.

#![forbid(unsafe_code)]
// To stop them as ctrl-c does takes a signal.
#![cfg(unix)]

mod program;
#[allow(dead_code, reason = "each test file uses a part")]
mod service;

use std::error::Error;
use std::thread;

use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustix::process::Signal;
use service::Service;
use tokio::net::TcpStream;
use tokio::runtime::Builder;

const CLIENTS: usize = 4;
const REQUESTS: usize = 10;

/// Stops it. What it says that the queue has had.
fn end(service: Service) -> String {
    service.signal(Signal::INT);
    service.summary().remove(0)
}

/// Each visit is counted once.
fn assert_visits(answers: Vec<String>) {
    let mut counts: Vec<usize> =
        answers.iter().map(|answer| answer.strip_prefix("visit ").unwrap().parse().unwrap()).collect();
    counts.sort_unstable();
    assert_eq!(counts, Vec::from_iter(1..=CLIENTS * REQUESTS));
}

/// Over HTTP/1: a task per connection.
#[test]
fn axum_service() {
    let service = Service::start("axum_service", &[]);
    let client = || {
        let mut connection = service.connect();
        let mut ask = || connection.ask("GET", "/", "");
        Vec::from_iter((0..REQUESTS).map(|_| ask()))
    };
    let answers = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(answers.iter().all(|(status, _)| *status == 200));
    assert_visits(answers.into_iter().map(|(_, body)| body).collect());
    assert_eq!(end(service), format!("{CLIENTS} tasks in the queue requests"));
}

/// What Prometheus reads: text, a series and its value per line.
#[test]
fn metrics() {
    let service = Service::start("metrics", &[]);
    let mut connection = service.connect();
    for _ in 0..REQUESTS {
        assert_eq!(connection.ask("GET", "/", ""), (200, String::from("hello\n")));
    }
    let (status, page) = connection.ask("GET", "/metrics", "");
    assert_eq!(status, 200);
    let value = |series: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {series} in\n{page}")).parse::<f64>().unwrap()
    };
    // The connection, and one per request.
    assert_eq!(value("clockworker_queue_tasks_spawned_total{queue=\"requests\"}") as usize, 1 + REQUESTS);
    assert_eq!(value("clockworker_queue_tasks_completed_total{queue=\"requests\"}") as usize, REQUESTS);
    assert_eq!(value("clockworker_queue_share{queue=\"requests\"}"), 9.0);
    assert!(value("clockworker_queue_busy_seconds_total{queue=\"requests\"}") > 0.0);
    assert!(value("clockworker_queue_slice_seconds_count{queue=\"requests\"}") > 0.0);
    assert!(page.contains("# TYPE clockworker_queue_polls_total counter\n"), "{page}");
    assert!(page.contains("# HELP clockworker_queue_wait_seconds From ready to polled\n"), "{page}");
    service.signal(Signal::INT);
    assert_eq!(service.summary(), Vec::<String>::new());
}

async fn connect_http2(address: &str) -> SendRequest<Empty<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn ask(mut sender: SendRequest<Empty<Bytes>>, url: String) -> String {
    let request = Request::get(url).body(Empty::new()).unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Over HTTP/2, all requests of a connection at the same time: a task per connection, and one per request.
#[test]
fn hyper_http2() {
    let service = Service::start("hyper_http2", &[]);
    let url = format!("http://{}/", service.address);
    let rt = Builder::new_current_thread().enable_all().build().unwrap();
    let answers = rt.block_on(async {
        let mut asked = Vec::new();
        for _ in 0..CLIENTS {
            let sender = connect_http2(&service.address).await;
            asked.extend((0..REQUESTS).map(|_| ask(sender.clone(), url.clone())));
        }
        futures::future::join_all(asked).await
    });
    assert_visits(answers);
    // With the clients: one that does not answer keeps the server from its end.
    drop(rt);
    assert_eq!(end(service), format!("{} tasks in the queue requests", CLIENTS + CLIENTS * REQUESTS));
}

/// As many requests as the limit begins with wait for their bodies. The next is refused, by either version.
#[test]
fn http_overload() {
    let service = Service::start("http_overload", &[]);
    let head = "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
    let begin = |_| {
        let mut connection = service.connect();
        connection.send(head);
        // Now it waits for the body.
        assert_eq!(connection.answer().0, 100);
        connection
    };
    let mut waiting = Vec::from_iter((0..10).map(begin));
    assert_eq!(service.connect().ask("POST", "/", "more"), (503, String::from("too many requests\n")));
    let rt = Builder::new_current_thread().enable_all().build().unwrap();
    let refused = rt.block_on(async {
        let mut sender = connect_http2(&service.address).await;
        let request = Request::get(format!("http://{}/", service.address)).body(Empty::new()).unwrap();
        sender.send_request(request).await.unwrap_err()
    });
    drop(rt);
    let reset = refused.source().and_then(|source| source.downcast_ref::<h2::Error>()).unwrap();
    assert_eq!(reset.reason(), Some(h2::Reason::REFUSED_STREAM));
    for connection in &mut waiting {
        connection.send("body");
        assert_eq!(connection.answer(), (200, String::from("body")));
    }
    assert_eq!(service.connect().ask("POST", "/", "more"), (200, String::from("more")));
    end(service);
}
