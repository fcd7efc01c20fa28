//! The server, compiled once for each set of imports.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use monoio::time::timeout;

use super::{spawn_local, yield_now};
use crate::measurements::service::protocol::{Protocol, Store};
use crate::measurements::service::server::monoio::listen;
use crate::measurements::service::server::{BUFFER, PATIENCE, World, give_up, work};

pub(in super::super) async fn run(world: &World) -> io::Result<Infallible> {
    for _ in 0..world.setup.compactors {
        drop(spawn_local(compact(world.chunks.clone())));
    }
    drop(spawn_local(accept(listen()?, world.setup.protocol)));
    // The main future does nothing, so that connections are tasks like any other.
    std::future::pending().await
}

/// A compactor, which works off chunks without end.
pub(in super::super) async fn compact(chunks: Arc<AtomicU64>) {
    loop {
        work(&chunks);
        yield_now().await;
    }
}

pub(in super::super) async fn accept(listener: TcpListener, protocol: Protocol) {
    let store = Rc::new(RefCell::new(Store::new()));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(spawn_local(connection(stream, protocol, store.clone()))),
            Err(error) => give_up(&error),
        }
    }
}

async fn connection(stream: TcpStream, protocol: Protocol, store: Rc<RefCell<Store>>) {
    talk(stream, protocol, store).await.unwrap_or_else(|error| give_up(&error));
}

/// monoio takes buffers by value, and gives them back with what was read as their length.
async fn talk(mut stream: TcpStream, protocol: Protocol, store: Rc<RefCell<Store>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut buffer, mut received) = (Vec::with_capacity(BUFFER), Vec::new());
    loop {
        let Ok((read, filled)) = timeout(PATIENCE, stream.read(buffer)).await else { return Ok(()) };
        if read? == 0 {
            return Ok(());
        }
        received.extend_from_slice(&filled);
        let answers = protocol.answer(&mut received, &mut store.borrow_mut());
        stream.write_all(answers).await.0?;
        buffer = filled;
    }
}
