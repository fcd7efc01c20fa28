//! The server on smol.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::rc::Rc;

use smol::LocalExecutor;
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};

use super::World;
use super::spawn::{self, Spawn};
use crate::measurements::tcp::setup::Spawner;
use crate::serving::server::{ADDRESS, BUFFER, Listening};

/// Into smol's own executor.
#[derive(Clone)]
struct IntoLocalExecutor(Rc<LocalExecutor<'static>>);

impl Spawn for IntoLocalExecutor {
    fn foreground(&self, task: impl Future<Output = ()> + 'static) {
        self.0.spawn(task).detach();
    }
}

pub(super) fn serve(world: &World<'_>) -> io::Result<Infallible> {
    match world.setup.spawner {
        Spawner::Native => {
            let executor = Rc::new(LocalExecutor::new());
            smol::block_on(executor.run(run(world, IntoLocalExecutor(executor.clone()))))
        }
        Spawner::Clockworker => {
            let (executor, queues) = spawn::clockworker(world.setup)?;
            smol::block_on(executor.run_until(run(world, queues)))
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
