//! The service on monoio: one source, with its own spawn and with clockworker's.

#![allow(clippy::duplicate_mod, reason = "that arms are the same source is what this is for")]

mod changed;
mod native;

use std::convert::Infallible;
use std::future::Future;
use std::io;

use clockworker::Executor;
use clockworker::monoio::with_timers;
use monoio::net::TcpListener;
use monoio::{FusionDriver, RuntimeBuilder};

use super::{World, qlas, two_queues};
use crate::arms::monoio::driver;
use crate::measurements::service::arm::Arm;
use crate::serving::server::{ADDRESS, Listening, forever};

pub(super) fn serve(world: &World) -> io::Result<Infallible> {
    match world.setup.arm {
        Arm::Native | Arm::NativeAgain => block_on(native::program::run(world)),
        Arm::Imports => on_executor(world, &Executor::new(), changed::program::run(world)),
        Arm::Qlas => on_executor(world, &qlas()?, changed::program::run(world)),
        Arm::TwoQueues => {
            let executor = Executor::new();
            on_executor(world, &executor, in_two_queues(world, &executor))
        }
        Arm::ImportsTokioYield => Err(io::Error::other("tokio's yield_now needs tokio")),
    }
}

fn block_on(main: impl Future<Output = io::Result<Infallible>>) -> io::Result<Infallible> {
    RuntimeBuilder::<FusionDriver>::new().enable_timer().build()?.block_on(main)
}

fn on_executor(
    world: &World,
    executor: &Executor,
    main: impl Future<Output = io::Result<Infallible>>,
) -> io::Result<Infallible> {
    let run = executor.run_until(main);
    match world.setup.compactors {
        0 => block_on(run),
        // Beside an executor that is never idle monoio does all of its work only so.
        _ => block_on(async { with_timers(run).await? }),
    }
}

/// The main function of the service with queues: the rest of it is the same. A connection inherits the queue of the task
/// that accepts it.
async fn in_two_queues(world: &World, executor: &Executor) -> io::Result<Infallible> {
    let [connections, compactors] = two_queues(executor)?;
    for compaction in world.compactions() {
        drop(compactors.spawn(changed::program::compact(compaction)));
    }
    drop(connections.spawn(changed::program::accept(listen(world)?)));
    Ok(forever().await)
}

/// Listens, and says where.
fn listen(world: &World) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(ADDRESS)?;
    world.say(Listening { address: listener.local_addr()?, driver: driver() })?;
    Ok(listener)
}
