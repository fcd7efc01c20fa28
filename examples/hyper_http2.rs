//! How do I serve HTTP/2 with hyper in a queue?
//!
//! A connection of HTTP/2 spawns a task for each request, on the executor that its builder is given. With the feature
//! `hyper` of `clockworker`, a queue is such an executor, and the service need not be `Send`. (With hyper-util's
//! `TokioExecutor` the requests would run on tokio, in no queue.)

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::rc::Rc;

use clockworker::Queue;
use hyper::Response;
use hyper::server::conn::http2;
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
            let visits = Rc::clone(&visits);
            async move {
                visits.set(visits.get() + 1);
                Ok::<_, Infallible>(Response::new(format!("visit {}", visits.get())))
            }
        });
        let http2 = http2::Builder::new(requests.clone());
        requests.spawn(http2.serve_connection(TokioIo::new(stream), service));
    }
}
