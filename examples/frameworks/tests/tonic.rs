//! tonic's server spawns each connection and each call on tokio, and its client each connection.
//! `clockworker_http::serve` serves both in a queue, and a channel takes an executor.
//!
//! The service is written by hand, so that no `protoc` is needed: its messages are text.

#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut};
use clockworker_frameworks::{Host, listen, place, run, tasks_of_tokio};
use clockworker_http::{QueueExecutor, serve};
use tonic::body::Body;
use tonic::client;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::{self, NamedService, UnaryService};
use tonic::service::Routes;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

/// Messages that are text.
#[derive(Clone, Copy, Default)]
struct Text;

impl Codec for Text {
    type Encode = String;
    type Decode = String;
    type Encoder = Text;
    type Decoder = Text;

    fn encoder(&mut self) -> Text {
        Text
    }

    fn decoder(&mut self) -> Text {
        Text
    }
}

impl Encoder for Text {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, item: String, dst: &mut EncodeBuf<'_>) -> Result<(), Status> {
        dst.put_slice(item.as_bytes());
        Ok(())
    }
}

impl Decoder for Text {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, src: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let message = src.copy_to_bytes(src.remaining());
        String::from_utf8(message.into()).map(Some).map_err(|_| Status::internal("not UTF-8"))
    }
}

/// The service `test.Places`: each call of a method is answered where it runs.
#[derive(Clone, Copy)]
struct Places;

impl UnaryService<String> for Places {
    type Response = String;
    type Future = std::future::Ready<Result<Response<String>, Status>>;

    fn call(&mut self, _: Request<String>) -> Self::Future {
        std::future::ready(Ok(Response::new(place().to_string())))
    }
}

impl NamedService for Places {
    const NAME: &'static str = "test.Places";
}

impl Service<http::Request<Body>> for Places {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move { Ok(server::Grpc::new(Text).unary(Places, request).await) })
    }
}

/// What `/test.Places/Where` answers.
async fn call(channel: Channel) -> String {
    let mut client = client::Grpc::new(channel);
    client.ready().await.unwrap();
    let method = PathAndQuery::from_static("/test.Places/Where");
    client.unary(Request::new(String::new()), method, Text).await.unwrap().into_inner()
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{address}")).unwrap()
}

#[test]
fn its_server_runs_calls_outside() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        let server = Server::builder().add_service(Places).serve_with_incoming(TcpIncoming::from(listener));
        host.requests.spawn(server);
        let channel = endpoint(address).connect().await.unwrap();
        assert_eq!(call(channel).await, "outside");
    });
}

/// Serves the routes in the queue, connections and calls.
async fn serve_routes(host: &Host) -> SocketAddr {
    let (listener, address) = listen().await.unwrap();
    let server = serve(listener, Routes::new(Places).prepare(), &host.requests);
    clockworker::spawn_local(server.into_future());
    address
}

#[test]
fn clockworker_https_serve_runs_calls_in_its_queue() {
    run(async |host| {
        let address = serve_routes(&host).await;
        let before = tasks_of_tokio();
        let channel = endpoint(address).connect().await.unwrap();
        assert_eq!(call(channel.clone()).await, "in the queue requests");
        assert!(tasks_of_tokio() > before, "the client's connection is a task of tokio");
        drop(channel);
    });
}

#[test]
fn a_channel_takes_a_queue_for_its_connections() {
    run(async |host| {
        let address = serve_routes(&host).await;
        let before = tasks_of_tokio();
        let executor = QueueExecutor::new(host.requests.handle());
        let channel = endpoint(address).executor(executor).connect().await.unwrap();
        assert_eq!(call(channel.clone()).await, "in the queue requests");
        assert_eq!(tasks_of_tokio(), before);
        drop(channel);
    });
}
