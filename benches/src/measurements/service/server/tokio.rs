//! The service on tokio's current-thread runtime: one source, with each set of imports.

#![allow(clippy::duplicate_mod, reason = "that arms are the same source is what this is for")]

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

/// By its imports, but for `yield_now`, which has been forgotten.
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

use super::{World, two_queues};
use crate::arms::{executor_under, host};
use crate::measurements::service::arm::Arm;
use crate::serving::server::ADDRESS;

pub(super) fn serve(world: &World) -> io::Result<Infallible> {
    let host = host();
    match world.setup.arm {
        Arm::Native | Arm::NativeAgain => host.block_on(native::program::main(world)),
        Arm::Imports => host.block_on(changed::program::main(world)),
        Arm::ImportsTokioYield => host.block_on(tokio_yield::program::main(world)),
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
        drop(compactors.spawn(changed::program::compact(world.gate.clone(), world.setup.chunk)));
    }
    let accepting = changed::program::accept(listen(world).await?);
    connections.spawn(accepting).await.map_err(io::Error::other)?
}

async fn listen(world: &World) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(ADDRESS).await?;
    world.listens(listener.local_addr()?, "epoll")?;
    Ok(listener)
}
