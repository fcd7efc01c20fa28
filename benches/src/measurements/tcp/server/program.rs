//! The server, compiled once for each set of imports.

use std::convert::Infallible;
use std::io;

use super::{AsyncReadExt, AsyncWriteExt, TcpListener, TcpStream};
use crate::measurements::tcp::server::tasks::Tasks;
use crate::measurements::tcp::server::{World, serve};
use crate::serving::server::{ADDRESS, BUFFER};

pub(in super::super) async fn run(world: &World, tasks: Tasks) -> io::Result<Infallible> {
    let listener = TcpListener::bind(ADDRESS).await?;
    world.listens(listener.local_addr()?, "epoll")?;
    serve(world, tasks, async move || Ok(listener.accept().await?.0), echo).await
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
