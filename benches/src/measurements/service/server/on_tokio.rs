//! Sockets of tokio.

use std::io;
use std::net::TcpListener as Std;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
pub(super) use tokio::net::TcpListener as Listener;
use tokio::net::TcpStream;
pub(super) use tokio::time::timeout;

use super::{ADDRESS, BUFFER, listens};

pub(super) struct Stream(TcpStream);

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Stream(stream)
    }
}

impl Stream {
    pub(super) fn set_nodelay(&self) -> io::Result<()> {
        self.0.set_nodelay(true)
    }

    pub(super) async fn receive(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        into.reserve(BUFFER - into.len().min(BUFFER));
        self.0.read_buf(into).await
    }

    pub(super) async fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.0.write_all(&bytes).await
    }
}

pub(super) fn listen() -> io::Result<Listener> {
    let listener = Std::bind(ADDRESS)?;
    listens(listener.local_addr())?;
    listener.set_nonblocking(true)?;
    Listener::from_std(listener)
}
