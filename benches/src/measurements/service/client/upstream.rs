//! The upstream of a proxy, on the client's thread: it sends back what comes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use anyhow::{Context, Result};
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};

use crate::measurements::service::server::ADDRESS;

pub(super) struct Upstream {
    listener: TcpListener,
    streams: Vec<TcpStream>,
    /// The listener's token. Those of the streams follow.
    first: usize,
}

impl Upstream {
    pub(super) fn listen() -> Result<Self> {
        Ok(Upstream { listener: TcpListener::bind(ADDRESS.parse()?)?, streams: Vec::new(), first: 0 })
    }

    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Takes the tokens from `first` on.
    pub(super) fn register(&mut self, registry: &Registry, first: usize) -> io::Result<()> {
        self.first = first;
        registry.register(&mut self.listener, Token(first), Interest::READABLE)
    }

    pub(super) fn owns(&self, event: &Event) -> bool {
        event.token().0 >= self.first
    }

    /// Accepts connections, or sends back what has come on one.
    pub(super) fn serve(&mut self, event: &Event, buffer: &mut [u8], registry: &Registry) -> Result<()> {
        let done = match event.token().0 - self.first {
            0 => self.accept(registry),
            number => echo(&mut self.streams[number - 1], buffer),
        };
        match done {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error).context("the proxy's upstream"),
            _ => Ok(()),
        }
    }

    /// Until there is no more to accept, which is an error.
    fn accept(&mut self, registry: &Registry) -> io::Result<()> {
        loop {
            let (mut stream, _) = self.listener.accept()?;
            stream.set_nodelay(true)?;
            let token = Token(self.first + 1 + self.streams.len());
            registry.register(&mut stream, token, Interest::READABLE)?;
            self.streams.push(stream);
        }
    }
}

/// Until there is no more to read. A connection has one message under way, for which there is room.
fn echo(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<()> {
    loop {
        let read = stream.read(buffer)?;
        let written = stream.write(&buffer[..read])?;
        if written < read {
            return Err(io::Error::other("the proxy does not read"));
        }
        if read < buffer.len() {
            return Ok(());
        }
    }
}
