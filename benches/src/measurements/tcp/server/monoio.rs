//! The server on monoio.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use clockworker::monoio::with_timers;
use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use monoio::{FusionDriver, RuntimeBuilder};

use super::World;
use super::spawn::{self, Spawn};
use crate::arms::monoio::driver;
use crate::measurements::tcp::setup::Spawner;
use crate::serving::server::{ADDRESS, BUFFER, Listening};

/// Into the monoio that runs.
#[derive(Clone, Copy)]
struct IntoMonoio;

impl Spawn for IntoMonoio {
    fn foreground(&self, task: impl Future<Output = ()> + 'static) {
        drop(monoio::spawn(task));
    }
}

pub(super) fn serve(world: &World<'_>) -> io::Result<Infallible> {
    let mut host = RuntimeBuilder::<FusionDriver>::new().enable_timer().build()?;
    match world.setup.spawner {
        Spawner::Native => host.block_on(run(world, IntoMonoio)),
        Spawner::Clockworker => {
            let (executor, queues) = spawn::clockworker(world.setup)?;
            let run = executor.run_until(run(world, queues));
            match world.setup.background {
                None => host.block_on(run),
                // Beside an executor that is never idle monoio does all of its work only so.
                Some(_) => host.block_on(with_timers(run))?,
            }
        }
    }
}

async fn run(world: &World<'_>, spawner: impl Spawn + Clone + 'static) -> io::Result<Infallible> {
    let listener = TcpListener::bind(ADDRESS)?;
    let listening = Listening { address: listener.local_addr()?, driver: driver() };
    let accept = async move || {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    super::run(world, spawner, listening, accept, echo).await
}

/// monoio takes buffers by value, and gives them back with what was read as their length.
async fn echo(mut stream: TcpStream) -> io::Result<()> {
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
