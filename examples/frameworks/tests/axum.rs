//! `axum::serve` spawns each connection on tokio. `clockworker_http::serve` spawns it in a queue.

#![forbid(unsafe_code)]

use std::convert::Infallible;

use axum::Router;
use axum::routing;
use clockworker_frameworks::{get, listen, place, run};

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
fn clockworker_https_serve_runs_them_in_its_queue() {
    run(async |host| {
        let (listener, address) = listen().await.unwrap();
        let server = clockworker_http::serve(listener, router(), &host.requests);
        clockworker::spawn_local(server.into_future());
        assert_eq!(get(address).await.unwrap(), "in the queue requests");
    });
}
