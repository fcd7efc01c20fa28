//! Where servers listen, and an HTTP/1 client that is a thread, so that it is in nobody's way.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use tokio::net::TcpListener;

/// A listener on a free port, and its address.
///
/// # Errors
///
/// If the system has none.
pub async fn listen() -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// The body of the answer to `GET /`.
///
/// # Errors
///
/// If the server closes the connection before it has answered.
///
/// # Panics
///
/// Outside a tokio runtime.
pub async fn get(address: SocketAddr) -> io::Result<String> {
    tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        match answer.split_once("\r\n\r\n") {
            Some((_head, body)) => Ok(body.to_owned()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    })
    .await?
}
