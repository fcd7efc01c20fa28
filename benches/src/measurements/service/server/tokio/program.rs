//! The server, compiled once for each set of imports.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::time::timeout;

use super::{JoinSet, LocalSet, spawn_local, yield_now};
use crate::measurements::service::protocol::{Protocol, Store};
use crate::measurements::service::server::tokio::listen;
use crate::measurements::service::server::{BUFFER, PATIENCE, World, work};

pub(in super::super) async fn main(world: &World) -> io::Result<Infallible> {
    LocalSet::new().run_until(run(world)).await
}

pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for _ in 0..world.setup.compactors {
        drop(spawn_local(compact(world.chunks.clone())));
    }
    accept(listen().await?, world.setup.protocol).await
}

/// A compactor, which works off chunks without end.
pub(in super::super) async fn compact(chunks: Arc<AtomicU64>) {
    loop {
        work(&chunks);
        yield_now().await;
    }
}

pub(in super::super) async fn accept(listener: TcpListener, protocol: Protocol) -> io::Result<Infallible> {
    let store = Rc::new(RefCell::new(Store::new()));
    let mut connections = JoinSet::new();
    loop {
        select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                connections.spawn_local(talk(stream, protocol, store.clone()));
            }
            Some(ended) = connections.join_next() => ended.map_err(io::Error::other)??,
        }
    }
}

async fn talk(mut stream: TcpStream, protocol: Protocol, store: Rc<RefCell<Store>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = Vec::with_capacity(BUFFER);
    loop {
        let Ok(read) = timeout(PATIENCE, stream.read_buf(&mut received)).await else { return Ok(()) };
        if read? == 0 {
            return Ok(());
        }
        let answers = protocol.answer(&mut received, &mut store.borrow_mut());
        stream.write_all(&answers).await?;
    }
}
