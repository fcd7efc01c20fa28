//! How do I serve an axum router in a queue?
//!
//! `axum::serve` spawns each connection on tokio, in no queue. `clockworker_http::serve` spawns it on the queue that it is given. (axum wants
//! handlers that are `Send`, wherever they run.)

#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use clockworker_examples::web;
use clockworker_http::serve;

fn main() -> Result<(), Box<dyn Error>> {
    web::serve(|_, listener, requests| {
        let router = Router::new().route("/", get(visit)).with_state(Arc::default());
        Ok(serve(listener, router, requests).with_graceful_shutdown(web::stop()))
    })
}

async fn visit(State(visits): State<Arc<AtomicU64>>) -> String {
    format!("visit {}", visits.fetch_add(1, Ordering::Relaxed) + 1)
}
