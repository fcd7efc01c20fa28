//! [`Listener`]: where connections come from.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// How long not to accept when there are no file descriptors left, or something else is wrong with more than one connection.
const BACKOFF: Duration = Duration::from_millis(100);

/// Where connections come from: TCP, Unix sockets, or what you implement it for, such as TLS.
pub trait Listener: 'static {
    /// A connection.
    type Io: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Who is at the other end. Each request has it among its extensions.
    type Peer: Clone + Send + Sync + 'static;

    /// Waits for a connection.
    ///
    /// # Errors
    ///
    /// If there is none to be had now. `ConnectionAborted`, `ConnectionRefused` and `ConnectionReset` are one connection's failure,
    /// and the next is accepted at once; after others it is accepted 100 ms later, or when a connection ends.
    ///
    /// # Cancel safety
    ///
    /// It is to lose no connection when it is dropped: [`serve`](crate::serve()) drops it when a connection ends.
    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Io, Self::Peer)>>;
}

/// With `TCP_NODELAY`: the end of an answer does not wait for an acknowledgement.
impl Listener for TcpListener {
    type Io = TcpStream;
    type Peer = std::net::SocketAddr;

    async fn accept(&mut self) -> io::Result<(Self::Io, Self::Peer)> {
        let (stream, peer) = TcpListener::accept(self).await?;
        // One that is gone already fails when it is read.
        let _ = stream.set_nodelay(true);
        Ok((stream, peer))
    }
}

#[cfg(unix)]
impl Listener for tokio::net::UnixListener {
    type Io = tokio::net::UnixStream;
    type Peer = tokio::net::unix::SocketAddr;

    async fn accept(&mut self) -> io::Result<(Self::Io, Self::Peer)> {
        tokio::net::UnixListener::accept(self).await
    }
}

/// Waits for a connection, whatever goes wrong.
pub(crate) async fn accept<L: Listener>(listener: &mut L) -> (L::Io, L::Peer) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) => {
            }
            Err(_) => sleep(BACKOFF).await,
        }
    }
}
