//! hyper spawns nothing of HTTP/1, and each request of HTTP/2 on the executor that it is given.

#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;

use clockworker_frameworks::{get, listen, place, run, tasks_of_tokio};
use clockworker_http::LocalExecutor;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2 as client;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

/// Answers where it runs.
async fn answer(_: Request<Incoming>) -> Result<Response<String>, Infallible> {
    Ok(Response::new(place().to_string()))
}

/// The same, and what it holds is not `Send`.
async fn answer_with(not_send: Rc<()>) -> Result<Response<String>, Infallible> {
    let answer = place().to_string();
    drop(not_send);
    Ok(Response::new(answer))
}

/// `GET /` over HTTP/2.
async fn get2(address: SocketAddr) -> String {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        client::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get(format!("http://{address}/")).body(Empty::<Bytes>::new()).unwrap();
    let body = sender.send_request(request).await.unwrap().into_body();
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[test]
fn http1_runs_where_its_connection_was_spawned() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        host.requests.spawn(async move {
            let not_send = Rc::new(());
            while let Ok((stream, _)) = listener.accept().await {
                let not_send = Rc::clone(&not_send);
                let service = service_fn(move |_| answer_with(Rc::clone(&not_send)));
                // In the queue that this task is in.
                clockworker::spawn_local(
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        assert_eq!(get(address).await.unwrap(), "in the queue requests");
        assert_eq!(tasks_of_tokio(), 0);
    });
}

#[test]
fn http2_runs_where_its_executor_spawns_it() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        host.requests.spawn(async move {
            let not_send = Rc::new(());
            while let Ok((stream, _)) = listener.accept().await {
                let not_send = Rc::clone(&not_send);
                let service = service_fn(move |_| answer_with(Rc::clone(&not_send)));
                // The requests go where their connection is.
                let http2 = http2::Builder::new(LocalExecutor::new());
                clockworker::spawn_local(http2.serve_connection(TokioIo::new(stream), service));
            }
        });
        assert_eq!(get2(address).await, "in the queue requests");
    });
}

#[test]
fn http2_with_hyper_utils_executor_runs_outside() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        host.requests.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let http2 = http2::Builder::new(TokioExecutor::new());
                // This connection is in the queue; its requests are not.
                clockworker::spawn_local(http2.serve_connection(TokioIo::new(stream), service_fn(answer)));
            }
        });
        assert_eq!(get2(address).await, "outside");
    });
}
