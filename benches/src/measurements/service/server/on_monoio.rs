//! Sockets of monoio, which takes buffers by value.

use std::{io, mem};

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
pub(super) use monoio::net::TcpListener as Listener;
use monoio::net::TcpStream;
pub(super) use monoio::time::timeout;

use super::{ADDRESS, BUFFER, listens};

pub(super) struct Stream {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Stream { stream, buffer: Vec::with_capacity(BUFFER) }
    }
}

impl Stream {
    pub(super) fn set_nodelay(&self) -> io::Result<()> {
        self.stream.set_nodelay(true)
    }

    pub(super) async fn receive(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        // What was read is the length of the buffer that comes back.
        let (read, filled) = self.stream.read(mem::take(&mut self.buffer)).await;
        into.extend_from_slice(&filled);
        self.buffer = filled;
        read
    }

    pub(super) async fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.stream.write_all(bytes).await.0.map(drop)
    }
}

pub(super) fn listen() -> io::Result<Listener> {
    let listener = Listener::bind(ADDRESS)?;
    listens(listener.local_addr())?;
    Ok(listener)
}
