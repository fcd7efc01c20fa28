//! How do I serve HTTP/1 with hyper in a queue?
//!
//! hyper spawns nothing of HTTP/1: a connection with all its requests is a future. Spawn it on the queue. The service need
//! not be `Send`.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::rc::Rc;

use clockworker::Queue;
use hyper::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    clockworker_examples::web::serve(serve)
}

async fn serve(listener: TcpListener, requests: Queue) {
    let visits = Rc::new(Cell::new(0)); // not `Send`, and need not be
    while let Ok((stream, _)) = listener.accept().await {
        let visits = Rc::clone(&visits);
        let service = service_fn(move |_| {
            visits.set(visits.get() + 1);
            let answer = Response::new(format!("visit {}", visits.get()));
            async { Ok::<_, Infallible>(answer) }
        });
        requests.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
