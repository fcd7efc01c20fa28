//! The service, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use monoio::time::timeout;

use super::{spawn_local, yield_now};
use crate::measurements::service::protocol::Store;
use crate::measurements::service::server::{PATIENCE, World};
use crate::serving::monoio::listen;
use crate::serving::server::{BUFFER, Gate, forever, give_up};

pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for _ in 0..world.setup.compactors {
        drop(spawn_local(compact(world.gate.clone(), world.setup.chunk)));
    }
    drop(spawn_local(accept(listen(world)?)));
    Ok(forever().await)
}

/// A compactor, which works off chunks of so much CPU time while `gate` is open.
pub(in super::super) async fn compact(gate: Arc<Gate>, chunk: Duration) {
    loop {
        gate.work(|| chunk).await;
        yield_now().await;
    }
}

pub(in super::super) async fn accept(listener: TcpListener) {
    let store = Store::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(spawn_local(connection(stream, store.clone()))),
            Err(error) => give_up(&error),
        }
    }
}

async fn connection(stream: TcpStream, store: Store) {
    if let Err(error) = talk(stream, store).await {
        give_up(&error);
    }
}

/// Answers all lines that have come, at once: monoio takes a turn for each write.
async fn talk(mut stream: TcpStream, store: Store) -> io::Result<()> {
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
