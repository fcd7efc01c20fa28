//! The server, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;

use super::{AsyncReadExt, AsyncWriteExt, TcpListener, TcpStream};
use crate::measurements::tcp::server::tasks::Tasks;
use crate::measurements::tcp::server::{World, background};
use crate::serving::server::{ADDRESS, BUFFER, forever};

/// Serves: each connection is a task, and so is what accepts them.
pub(in super::super) async fn run(world: &World, tasks: Tasks) -> io::Result<Infallible> {
    let listener = TcpListener::bind(ADDRESS).await?;
    world.listens(listener.local_addr()?, "epoll")?;
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

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..read]).await?;
    }
}
