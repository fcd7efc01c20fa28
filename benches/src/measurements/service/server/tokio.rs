//! The server on tokio's current-thread runtime: one source, with each set of imports.

#![allow(clippy::duplicate_mod, reason = "that arms are one source is what this is for")]

#[path = "tokio"]
mod native {
    use tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};

    pub(super) mod program;
}

#[path = "tokio"]
mod changed {
    use clockworker::compat::{JoinSet, LocalSet, spawn_local, yield_now};

    pub(super) mod program;
}

/// By its imports, but for `yield_now`, which was forgotten.
#[path = "tokio"]
mod tokio_yield {
    use clockworker::compat::{JoinSet, LocalSet, spawn_local};
    use tokio::task::yield_now;

    pub(super) mod program;
}

use std::convert::Infallible;
use std::io;

use clockworker::Executor;
use clockworker::schedulers::Qlas;
use tokio::net::TcpListener;

use super::{ADDRESS, Arm, World, listens, two_queues};
use crate::arms::clockworker::executor_under;
use crate::arms::tokio::host;

pub(super) fn serve(world: &World) -> io::Result<Infallible> {
    let host = host();
    match world.setup.arm {
        Arm::Native => host.block_on(native::program::main(world)),
        Arm::Imports => host.block_on(changed::program::main(world)),
        Arm::TokioYield => host.block_on(tokio_yield::program::main(world)),
        Arm::TwoQueues => {
            let executor = Executor::new();
            host.block_on(executor.run_until(in_two_queues(world, &executor)))
        }
        // A task without a group is one by itself.
        Arm::Qlas => host.block_on(executor_under::<Qlas>().run_until(changed::program::run(world))),
    }
}

/// The main function of the service with queues. A connection inherits the queue of the task that accepts it.
async fn in_two_queues(world: &World, executor: &Executor) -> io::Result<Infallible> {
    let [connections, compactors] = two_queues(executor)?;
    for _ in 0..world.setup.compactors {
        drop(compactors.spawn(changed::program::compact(world.chunks.clone())));
    }
    let accepting = changed::program::accept(listen().await?, world.setup.protocol);
    connections.spawn(accepting).await.map_err(io::Error::other)?
}

async fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind(ADDRESS).await?;
    listens(listener.local_addr())?;
    Ok(listener)
}
