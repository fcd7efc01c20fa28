//! The service, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::time::sleep;

use super::{JoinSet, LocalSet, spawn_local, yield_now};
use crate::measurements::service::protocol::Store;
use crate::measurements::service::server::tokio::listen;
use crate::measurements::service::server::{PATIENCE, World};
use crate::serving::server::Gate;

pub(in super::super) async fn main(world: &World) -> io::Result<Infallible> {
    LocalSet::new().run_until(run(world)).await
}

pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for _ in 0..world.setup.compactors {
        drop(spawn_local(compact(world.gate.clone(), world.setup.chunk)));
    }
    accept(listen(world).await?).await
}

/// A compactor, which works off chunks of so much CPU time while `gate` is open.
pub(in super::super) async fn compact(gate: Arc<Gate>, chunk: Duration) {
    loop {
        gate.work(|| chunk).await;
        yield_now().await;
    }
}

pub(in super::super) async fn accept(listener: TcpListener) -> io::Result<Infallible> {
    let store = Store::default();
    let mut connections = JoinSet::new();
    loop {
        select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                connections.spawn_local(talk(stream, store.clone()));
            }
            Some(ended) = connections.join_next() => ended.map_err(io::Error::other)??,
        }
    }
}

async fn talk(stream: TcpStream, store: Store) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (requests, mut answers) = stream.into_split();
    let mut requests = BufReader::new(requests).lines();
    loop {
        select! {
            line = requests.next_line() => {
                let Some(line) = line? else { return Ok(()) };
                answers.write_all(store.answer(&line).as_bytes()).await?;
            }
            () = sleep(PATIENCE) => return Ok(()),
        }
    }
}
