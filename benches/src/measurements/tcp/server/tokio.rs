//! The server on tokio's current-thread runtime.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

use super::World;
use super::spawn::{self, Spawn};
use crate::arms::host;
use crate::measurements::tcp::setup::Spawner;
use crate::serving::server::{ADDRESS, BUFFER, Listening};

/// Into the LocalSet that runs.
#[derive(Clone, Copy)]
struct IntoLocalSet;

impl Spawn for IntoLocalSet {
    fn foreground(&self, task: impl Future<Output = ()> + 'static) {
        drop(spawn_local(task));
    }
}

pub(super) fn serve(world: &World<'_>) -> io::Result<Infallible> {
    let host = host();
    match world.setup.spawner {
        Spawner::Native => host.block_on(LocalSet::new().run_until(run(world, IntoLocalSet))),
        Spawner::Clockworker => {
            let (executor, queues) = spawn::clockworker(world.setup)?;
            host.block_on(executor.run_until(run(world, queues)))
        }
    }
}

async fn run(world: &World<'_>, spawner: impl Spawn + Clone + 'static) -> io::Result<Infallible> {
    let listener = TcpListener::bind(ADDRESS).await?;
    let listening = Listening { address: listener.local_addr()?, driver: "epoll" };
    let accept = async move || {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    super::run(world, spawner, listening, accept, echo).await
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..read]).await?;
    }
}
