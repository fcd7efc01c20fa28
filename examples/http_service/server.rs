//! Accepts connections and serves each in a task of its own, until it is time to stop.

use std::convert::Infallible;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::api::Api;
use crate::runner::Place;

/// How long requests may take that are under way when the server is stopped.
const GRACE: Duration = Duration::from_secs(10);

/// How long to wait after `accept` failed: most likely there are no file descriptors left, until a connection ends.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Serves until ctrl-c, then finishes what is under way. Whether all of it was finished in time.
pub(crate) async fn run(listener: TcpListener, api: Api, requests: Place) -> io::Result<bool> {
    let api = Rc::new(api);
    let graceful = GracefulShutdown::new();
    tokio::select! {
        never = accept(&listener, &api, &requests, &graceful) => match never {},
        _ = tokio::signal::ctrl_c() => {}
    }
    drop(listener);
    println!("stopping");
    io::stdout().flush()?;
    Ok(timeout(GRACE, graceful.shutdown()).await.is_ok())
}

async fn accept(
    listener: &TcpListener,
    api: &Rc<Api>,
    requests: &Place,
    graceful: &GracefulShutdown,
) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => requests.spawn(connection(stream, Rc::clone(api), graceful.watcher())),
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Answers the requests of one connection, one after the other.
async fn connection(stream: TcpStream, api: Rc<Api>, watcher: Watcher) {
    // Without it the end of an answer may wait for the client's acknowledgement.
    let _ = stream.set_nodelay(true);
    let service = {
        let api = Rc::clone(&api);
        service_fn(move |request| {
            let api = Rc::clone(&api);
            async move { Ok::<_, Infallible>(api.answer(request).await) }
        })
    };
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if watcher.watch(connection).await.is_err() {
        api.counters.broken.add(1);
    }
}
