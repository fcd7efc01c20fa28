//! How do I serve HTTP/2 with hyper in a queue?
//!
//! A connection of HTTP/2 spawns a task for each request, on the executor that its builder is given. `clockworker_http::serve` gives it the
//! queue of the connection, and the service need not be `Send`. (With hyper-util's `TokioExecutor` the requests would run on tokio, in
//! no queue.)

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::rc::Rc;

use clockworker_examples::web;
use clockworker_http::serve;
use hyper::body::Incoming;
use hyper::{Request, Response};

fn main() -> Result<(), Box<dyn Error>> {
    let visits = Rc::new(Cell::new(0)); // not `Send`, and need not be
    let service = tower::service_fn(move |_: Request<Incoming>| {
        let visits = Rc::clone(&visits);
        async move {
            visits.set(visits.get() + 1);
            Ok::<_, Infallible>(Response::new(format!("visit {}", visits.get())))
        }
    });
    web::serve(|_, listener, requests| {
        Ok(serve(listener, service, requests).with_graceful_shutdown(web::stop()))
    })
}
