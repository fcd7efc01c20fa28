//! The server, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use monoio::time::timeout;

use super::{spawn_local, yield_now};
use crate::measurements::service::server::monoio::listen;
use crate::measurements::service::server::{BUFFER, Gate, PATIENCE, Protocol, World, give_up};
use crate::measurements::service::store::Store;

pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for _ in 0..world.setup.compactors {
        drop(spawn_local(compact(world.gate.clone())));
    }
    drop(spawn_local(accept(listen()?, world.setup.protocol)));
    // The main future does nothing, so that connections are tasks like any other.
    std::future::pending().await
}

/// A compactor, which works off chunks while `gate` is open.
pub(in super::super) async fn compact(gate: Arc<Gate>) {
    loop {
        gate.work().await;
        yield_now().await;
    }
}

pub(in super::super) async fn accept(listener: TcpListener, protocol: Protocol) {
    let store = Store::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(spawn_local(connection(stream, protocol, store.clone()))),
            Err(error) => give_up(&error),
        }
    }
}

async fn connection(stream: TcpStream, protocol: Protocol, store: Store) {
    let ended = match protocol {
        Protocol::KeyValue => answer(stream, store).await,
        Protocol::Echo => echo(stream).await,
    };
    ended.unwrap_or_else(|error| give_up(&error));
}

/// Answers all lines that have come, at once: monoio takes a turn for each write.
async fn answer(mut stream: TcpStream, store: Store) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(BUFFER);
    let mut lines = Vec::new();
    loop {
        let Ok((read, filled)) = timeout(PATIENCE, stream.read(buffer)).await else { return Ok(()) };
        if read? == 0 {
            return Ok(());
        }
        lines.extend_from_slice(&filled);
        stream.write_all(store.answer_all(&mut lines)).await.0?;
        buffer = filled;
    }
}

/// monoio takes buffers by value, and gives them back with what was read as their length.
async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(BUFFER);
    loop {
        let (read, filled) = stream.read(buffer).await;
        if read? == 0 {
            return Ok(());
        }
        let (written, filled) = stream.write_all(filled).await;
        written?;
        buffer = filled;
    }
}
