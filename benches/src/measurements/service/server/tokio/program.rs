//! The service, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::time::sleep;

use super::imports::{JoinSet, LocalSet, spawn_local, yield_now};
use crate::measurements::service::compaction::Compaction;
use crate::measurements::service::server::tokio::listen;
use crate::measurements::service::server::{PATIENCE, World};
use crate::measurements::service::store::Store;

/// The service, with all of its tasks on one LocalSet.
pub(in super::super) async fn main(world: &World) -> io::Result<Infallible> {
    LocalSet::new().run_until(run(world)).await
}

/// The service, with its tasks where `spawn_local` puts them.
pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for compaction in world.compactions() {
        drop(spawn_local(compact(compaction)));
    }
    accept(listen(world).await?).await
}

/// A compactor.
pub(in super::super) async fn compact(compaction: Compaction) {
    loop {
        compaction.chunk().await;
        yield_now().await;
    }
}

/// Has a task talk on each connection.
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

/// Answers line by line.
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
