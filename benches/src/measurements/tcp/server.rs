//! The echo server.

#![allow(
    clippy::duplicate_mod,
    reason = "that servers on tokio and smol are the same source keeps them alike"
)]

mod background;
#[cfg(target_os = "linux")]
mod monoio;
mod tasks;

#[path = "server"]
mod on_tokio {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    pub(super) mod program;
}

#[path = "server"]
mod on_smol {
    use smol::io::{AsyncReadExt, AsyncWriteExt};
    use smol::net::{TcpListener, TcpStream};

    pub(super) mod program;
}

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use smol::LocalExecutor;
use tokio::task::LocalSet;

use crate::arms;
use crate::failure::Failure;
use crate::serving::host::Host;
#[cfg(target_os = "linux")]
use crate::serving::monoio::{block_on, on_executor};
use crate::serving::server::{forever, stand};
use tasks::Tasks;

type World = crate::serving::server::World<Setup>;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub(super) host: Host,
    /// Whether Clockworker runs the tasks inside the host, or the host's own spawn does.
    pub(super) by_clockworker: bool,
    /// How long Clockworker may keep the thread from its host, in microseconds; the default if there is none.
    pub(super) host_budget_us: Option<u32>,
    pub(super) foreground_share: u32,
    /// CPU time of the shortest and the longest poll of a background, in microseconds.
    pub(super) polls_us: Option<(u32, u32)>,
    pub(super) self_waking: bool,
    pub(super) seed: u64,
}

pub(crate) fn command(setup: &Setup) -> Result<(), Failure> {
    stand(
        setup,
        |world| {
            if world.setup.by_clockworker { serve_by_clockworker(world) } else { serve_natively(world) }
        },
    )
}

fn serve_natively(world: &World) -> io::Result<Infallible> {
    match world.setup.host {
        #[cfg(target_os = "linux")]
        Host::Monoio => block_on(monoio::run(world, Tasks::Monoio)),
        #[cfg(not(target_os = "linux"))]
        Host::Monoio => Err(io::Error::other("monoio needs Linux")),
        Host::Tokio => {
            let run = on_tokio::program::run(world, Tasks::LocalSet);
            arms::host().block_on(LocalSet::new().run_until(run))
        }
        Host::Smol => {
            let executor = Rc::new(LocalExecutor::new());
            let run = on_smol::program::run(world, Tasks::LocalExecutor(executor.clone()));
            smol::block_on(executor.run(run))
        }
    }
}

fn serve_by_clockworker(world: &World) -> io::Result<Infallible> {
    let (executor, tasks) = tasks::clockworker(&world.setup)?;
    match world.setup.host {
        #[cfg(target_os = "linux")]
        Host::Monoio => on_executor(&executor, world.setup.polls_us.is_some(), monoio::run(world, tasks)),
        #[cfg(not(target_os = "linux"))]
        Host::Monoio => Err(io::Error::other("monoio needs Linux")),
        Host::Tokio => arms::host().block_on(executor.run_until(on_tokio::program::run(world, tasks))),
        Host::Smol => smol::block_on(executor.run_until(on_smol::program::run(world, tasks))),
    }
}

/// Serves: each connection that `accept` has is a task, and so is what accepts them.
async fn serve<C, E: Future<Output = io::Result<()>> + 'static>(
    world: &World,
    tasks: Tasks,
    accept: impl AsyncFn() -> io::Result<C> + 'static,
    echo: impl Fn(C) -> E + 'static,
) -> io::Result<Infallible> {
    background::start(world, &tasks);
    tasks.clone().foreground(async move {
        loop {
            tasks.foreground(echo(accept().await?));
        }
    });
    Ok(forever().await)
}
