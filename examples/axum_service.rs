//! How do I serve an axum router in a queue?
//!
//! `axum::serve` spawns each connection on tokio, in no queue. Accept them yourself, and give hyper the router as a service.
//! (axum wants handlers that are `Send`, wherever they run.)

#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use clockworker::Queue;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    clockworker_examples::web::serve(serve)
}

async fn serve(listener: TcpListener, requests: Queue) {
    let router = Router::new().route("/", get(visit)).with_state(Arc::default());
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        requests.spawn(connection.with_upgrades()); // websockets need the upgrades
    }
}

async fn visit(State(visits): State<Arc<AtomicU64>>) -> String {
    format!("visit {}", visits.fetch_add(1, Ordering::Relaxed) + 1)
}
