//! How do I stop on SIGTERM, without losing what is under way?
//!
//! First `/ready` says no, and connections are still accepted until the balancer has noticed. Then none is, and `drain` lets the
//! requests under way finish, which may still spawn. What is left at the deadline is cancelled, and the exit code says so. A
//! second SIGTERM ends it at once.
//!
//! The service counts the words of what is posted to it, with a task for each line.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;
use clockworker::{Executor, Queue, spawn_local};
use futures::future::try_join_all;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::time::sleep;

#[derive(Parser)]
struct Options {
    /// How long a balancer may take to notice, in milliseconds.
    #[arg(long, default_value_t = 5_000)]
    notice: u64,
    /// How long requests under way may take then, in milliseconds.
    #[arg(long, default_value_t = 20_000)]
    grace: u64,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Options { notice, grace } = Options::parse();
    let rt = Builder::new_current_thread().enable_all().build()?;
    let ex = Executor::new();
    let requests = ex.new_queue("requests").share(9).create()?;
    rt.block_on(async {
        #[cfg(unix)]
        let mut stop = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        #[cfg(not(unix))]
        let mut stop = tokio::signal::windows::ctrl_c()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        say(&format!("listening on http://{}", listener.local_addr()?))?;

        let (is_ready, connections) = (Rc::new(Cell::new(true)), GracefulShutdown::new());
        let serving = async {
            tokio::select! {
                never = accept(&listener, &requests, &is_ready, &connections) => match never {},
                _ = stop.recv() => is_ready.set(false),
            }
            say("not ready")?;
            Ok::<_, io::Error>(tokio::select! {
                never = accept(&listener, &requests, &is_ready, &connections) => match never {},
                () = sleep(Duration::from_millis(notice)) => false,
                _ = stop.recv() => true,
            })
        };
        let is_second = ex.run_until(serving).await?;
        drop(listener);
        say("stopping")?;

        // Has each connection closed after the answer under way: a task more, which ends with the last of them.
        requests.spawn(connections.shutdown());
        let deadline = async {
            if !is_second {
                tokio::select! { () = sleep(Duration::from_millis(grace)) => {}, _ = stop.recv() => {} }
            }
        };
        let report = ex.drain(deadline).await;
        say(&report.to_string())?; // or its fields: completed, cancelled, panicked, drained
        Ok(if report.drained { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

async fn accept(
    listener: &TcpListener,
    requests: &Queue,
    is_ready: &Rc<Cell<bool>>,
    connections: &GracefulShutdown,
) -> Infallible {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(10)).await; // until there are file descriptors again
            continue;
        };
        let is_ready = Rc::clone(is_ready);
        let service = service_fn(move |request| answer(request, Rc::clone(&is_ready)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        requests.spawn(connections.watch(connection));
    }
}

async fn answer(
    request: Request<Incoming>,
    is_ready: Rc<Cell<bool>>,
) -> Result<Response<String>, Box<dyn Error + Send + Sync>> {
    if request.uri().path() == "/ready" {
        let status = if is_ready.get() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        return Ok(Response::builder().status(status).body(String::new())?);
    }
    let text = String::from_utf8(request.into_body().collect().await?.to_bytes().into())?;
    let words = |line: &str| {
        let line = line.to_owned();
        spawn_local(async move { line.split_whitespace().count() })
    };
    // While it drains, too: `shutdown` would refuse them.
    let counts = try_join_all(text.lines().map(words)).await?;
    Ok(Response::new(format!("{} words", counts.iter().sum::<usize>())))
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
