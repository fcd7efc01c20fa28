//! The server on monoio.

use std::convert::Infallible;
use std::io;

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};

use super::tasks::Tasks;
use super::{World, background};
use crate::serving::monoio::listen;
use crate::serving::server::{BUFFER, forever};

/// Serves: each connection is a task, and so is what accepts them.
pub(super) async fn run(world: &World, tasks: Tasks) -> io::Result<Infallible> {
    let listener = listen(world)?;
    background::start(world, &tasks);
    tasks.clone().foreground(accept(listener, tasks));
    Ok(forever().await)
}

async fn accept(listener: TcpListener, tasks: Tasks) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tasks.foreground(echo(stream));
    }
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
