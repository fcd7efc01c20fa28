//! The server on monoio.

use std::convert::Infallible;
use std::io;

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::TcpStream;

use super::tasks::Tasks;
use super::{World, serve};
use crate::serving::monoio::listen;
use crate::serving::server::BUFFER;

pub(super) async fn run(world: &World, tasks: Tasks) -> io::Result<Infallible> {
    let listener = listen(world)?;
    serve(world, tasks, async move || Ok(listener.accept().await?.0), echo).await
}

/// monoio takes buffers by value, and gives them back with what was read as their length.
async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(BUFFER);
    loop {
        let (read, filled) = stream.read(buffer).await;
        if read? == 0 {
            return Ok(());
        }
        let (written, filled) = stream.write_all(filled).await;
        written?;
        buffer = filled;
    }
}
