//! Importers beside HTTP that axum serves, on its own or on connections that are accepted by hand.

use std::convert::Infallible;
use std::future::pending;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::header;
use axum::routing::get;
use axum::serve::ListenerExt;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::task;

use super::services::serve;
use super::{listen, spawn_local};
use crate::measurements::service::protocol::{BODY, DATE};
use crate::measurements::service::server::World;

/// `axum::serve` in a task of the host's.
pub(super) async fn served(world: &World) -> io::Result<Infallible> {
    spawn_importers(world);
    let listener = listen()?.tap_io(|stream| stream.set_nodelay(true).expect("the stream is open"));
    drop(tokio::spawn(axum::serve(listener, router()).into_future()));
    pending().await
}

/// A task for each connection.
pub(super) async fn by_hand(world: &World) -> io::Result<Infallible> {
    spawn_importers(world);
    let router = router();
    serve(move |stream| respond(stream, router.clone())).await
}

fn router() -> Router {
    Router::new().route("/", get(|| async { ([(header::DATE, DATE)], BODY) }))
}

async fn respond(stream: TcpStream, router: Router) -> io::Result<()> {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    connection.await.map_err(io::Error::other)
}

fn spawn_importers(world: &World) {
    (0..world.setup.compactors).for_each(|_| drop(spawn_local(import(world.chunks.clone()))));
}

/// Rows that an importer parses between two yields: some tens of microseconds.
const ROWS: u64 = 500;

/// Parses rows without end, and has kept tokio's `yield_now`.
async fn import(rows: Arc<AtomicU64>) {
    let table: String = (0..ROWS).map(|row| format!("{row},name {row},{}.25\n", row * 37)).collect();
    loop {
        black_box(table.lines().filter_map(amount).sum::<f64>());
        rows.fetch_add(ROWS, Ordering::Relaxed);
        task::yield_now().await;
    }
}

fn amount(row: &str) -> Option<f64> {
    let mut fields = row.split(',');
    let (number, name, amount) = (fields.next()?, fields.next()?, fields.next()?);
    let number: u32 = number.parse().ok()?;
    Some(f64::from(number) + name.len() as f64 + amount.parse::<f64>().ok()?)
}
