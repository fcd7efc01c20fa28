//! The server, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::time::sleep;

use super::{JoinSet, LocalSet, spawn_local, yield_now};
use crate::measurements::service::server::tokio::listen;
use crate::measurements::service::server::{BUFFER, Gate, PATIENCE, Protocol, World};
use crate::measurements::service::store::Store;

pub(in super::super) async fn main(world: &World) -> io::Result<Infallible> {
    LocalSet::new().run_until(run(world)).await
}

pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for _ in 0..world.setup.compactors {
        drop(spawn_local(compact(world.gate.clone())));
    }
    accept(listen().await?, world.setup.protocol).await
}

/// A compactor, which works off chunks while `gate` is open.
pub(in super::super) async fn compact(gate: Arc<Gate>) {
    loop {
        gate.work().await;
        yield_now().await;
    }
}

pub(in super::super) async fn accept(listener: TcpListener, protocol: Protocol) -> io::Result<Infallible> {
    let store = Store::default();
    let mut connections = JoinSet::new();
    loop {
        select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                stream.set_nodelay(true)?;
                match protocol {
                    Protocol::KeyValue => connections.spawn_local(answer(stream, store.clone())),
                    Protocol::Echo => connections.spawn_local(echo(stream)),
                };
            }
            Some(ended) = connections.join_next() => ended.map_err(io::Error::other)??,
        }
    }
}

async fn answer(stream: TcpStream, store: Store) -> io::Result<()> {
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

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..read]).await?;
    }
}
