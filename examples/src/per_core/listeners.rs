//! Several listeners on one address: the kernel deals connections out to them.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that the kernel keeps for a listener that does not accept at the moment.
const BACKLOG: i32 = 1024;

/// That many listeners, at least one. If the port is 0, the first takes a free one, and the others the same.
pub(super) fn open(address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    let first = listener(address)?;
    let address = first.local_addr()?;
    let mut all = vec![first];
    for _ in 1..count {
        all.push(listener(address)?);
    }
    Ok(all)
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // So that a server started anew need not wait for connections of the old one to be forgotten.
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    // For hosts that wait by epoll.
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
