//! `axum::serve` spawns each connection on tokio. An accept loop of one's own spawns it in a queue.

#![forbid(unsafe_code)]

use std::convert::Infallible;

use axum::Router;
use axum::routing;
use clockworker_frameworks::{get, listen, place, run};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;

/// Answers where it runs.
fn router() -> Router {
    Router::new().route("/", routing::get(async || Ok::<_, Infallible>(place().to_string())))
}

#[test]
fn serve_runs_handlers_outside() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        // A task of the queue accepts, and that is all that it does.
        host.requests.spawn(async { axum::serve(listener, router()).await });
        assert_eq!(get(address).await.unwrap(), "outside");
    });
}

#[test]
fn an_accept_loop_of_ones_own_runs_them_in_its_queue() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        host.requests.spawn(async move {
            let service = TowerToHyperService::new(router());
            while let Ok((stream, _)) = listener.accept().await {
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
                clockworker::spawn_local(connection.with_upgrades());
            }
        });
        assert_eq!(get(address).await.unwrap(), "in the queue requests");
    });
}
