//! A request of reqwest runs where it is awaited. What reads and writes its connection is a task of tokio.

#![forbid(unsafe_code)]

use std::net::SocketAddr;

use clockworker_frameworks::{Host, listen, run, tasks_of_tokio};
use clockworker_http::QueueExecutor;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioIo;

/// A server of one connection, in the queue.
async fn server(host: &Host) -> SocketAddr {
    let (listener, address) = listen().await.unwrap();
    host.requests.spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(async |_| Ok::<_, hyper::Error>(Response::new("hello".to_owned())));
        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
    });
    address
}

#[test]
fn its_connection_is_a_task_of_tokio() {
    run(async |host| {
        let address = server(&host).await;
        let client = reqwest::Client::new();
        let (before, spawned) = (tasks_of_tokio(), host.requests.stats().spawned);
        let asks = client.clone();
        let task = host.requests.spawn(async move {
            let answer = asks.get(format!("http://{address}/")).send().await?;
            answer.text().await
        });
        assert_eq!(task.await.unwrap().unwrap(), "hello");
        // It is kept open for the next request.
        assert!(tasks_of_tokio() > before);
        assert_eq!(host.requests.stats().spawned, spawned + 1, "the task that asked, and no other");
        drop(client);
    });
}

#[test]
fn hyper_utils_client_takes_a_queue_for_it() {
    run(async |host| {
        let address = server(&host).await;
        let executor = QueueExecutor::new(host.requests.handle());
        let client: Client<_, Empty<Bytes>> = Client::builder(executor).build_http();
        let (before, spawned) = (tasks_of_tokio(), host.requests.stats().spawned);
        let asks = client.clone();
        let task = host.requests.spawn(async move {
            let request = Request::get(format!("http://{address}/")).body(Empty::new()).unwrap();
            asks.request(request).await.unwrap().into_body().collect().await
        });
        assert_eq!(task.await.unwrap().unwrap().to_bytes(), "hello");
        assert_eq!(tasks_of_tokio(), before);
        assert!(host.requests.stats().spawned > spawned + 1, "the task that asked, and the connection");
        drop(client);
    });
}
