//! The server on monoio: one source, with its own spawn and with clockworker's.

#![allow(clippy::duplicate_mod, reason = "that arms are one source is what this is for")]

#[path = "monoio"]
mod native {
    use monoio::spawn as spawn_local;

    /// monoio has no yield of its own, and puts a task that wakes itself before all others, which then starve. One that
    /// waits for another task goes behind them.
    async fn yield_now() {
        spawn_local(async {}).await;
    }

    pub(super) mod program;
}

#[path = "monoio"]
mod changed {
    use clockworker::{spawn_local, yield_now};

    pub(super) mod program;
}

use std::convert::Infallible;
use std::io;

use clockworker::Executor;
use clockworker::monoio::with_timers;
use clockworker::schedulers::Qlas;
use monoio::net::TcpListener;
use monoio::time::TimeDriver;
use monoio::{FusionDriver, FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};

use super::{ADDRESS, Arm, World, listens, two_queues};
use crate::arms::clockworker::executor_under;

pub(super) fn serve(world: &World) -> io::Result<Infallible> {
    match world.setup.arm {
        Arm::Native => host()?.block_on(native::program::run(world)),
        Arm::Imports => on_executor(&Executor::new(), world, changed::program::run(world)),
        // A task without a group is one by itself.
        Arm::Qlas => on_executor(&executor_under::<Qlas>(), world, changed::program::run(world)),
        Arm::TwoQueues => {
            let executor = Executor::new();
            on_executor(&executor, world, in_two_queues(world, &executor))
        }
        Arm::TokioYield => Err(io::Error::other("tokio's yield_now needs tokio")),
    }
}

fn host() -> io::Result<FusionRuntime<TimeDriver<IoUringDriver>, TimeDriver<LegacyDriver>>> {
    RuntimeBuilder::<FusionDriver>::new().enable_timer().build()
}

/// Runs `main` on an executor inside monoio, which beside a busy one does all of its work only with timers.
fn on_executor(
    executor: &Executor,
    world: &World,
    main: impl Future<Output = io::Result<Infallible>>,
) -> io::Result<Infallible> {
    let (run, is_busy) = (executor.run_until(main), world.setup.compactors > 0);
    if is_busy { host()?.block_on(with_timers(run))? } else { host()?.block_on(run) }
}

/// The main function of the service with queues. A connection inherits the queue of the task that accepts it.
async fn in_two_queues(world: &World, executor: &Executor) -> io::Result<Infallible> {
    let [connections, compactors] = two_queues(executor)?;
    for _ in 0..world.setup.compactors {
        drop(compactors.spawn(changed::program::compact(world.chunks.clone())));
    }
    drop(connections.spawn(changed::program::accept(listen()?, world.setup.protocol)));
    std::future::pending().await
}

fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind(ADDRESS)?;
    listens(listener.local_addr())?;
    Ok(listener)
}
