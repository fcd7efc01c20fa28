//! The service on monoio: one source, with its own spawn and with clockworker's.

#![allow(clippy::duplicate_mod, reason = "that arms are the same source is what this is for")]

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
use clockworker::schedulers::Qlas;

use super::{World, two_queues};
use crate::arms::executor_under;
use crate::measurements::service::arm::Arm;
use crate::serving::monoio::{block_on, listen, on_executor};
use crate::serving::server::forever;

pub(super) fn serve(world: &World) -> io::Result<Infallible> {
    let busy = world.setup.compactors > 0;
    match world.setup.arm {
        Arm::Native | Arm::NativeAgain => block_on(native::program::run(world)),
        Arm::Imports => on_executor(&Executor::new(), busy, changed::program::run(world)),
        // A task without a group is one by itself.
        Arm::Qlas => on_executor(&executor_under::<Qlas>(), busy, changed::program::run(world)),
        Arm::TwoQueues => {
            let executor = Executor::new();
            on_executor(&executor, busy, in_two_queues(world, &executor))
        }
        Arm::ImportsTokioYield => Err(io::Error::other("tokio's yield_now needs tokio")),
    }
}

/// The main function of the service with queues. A connection inherits the queue of the task that accepts it.
async fn in_two_queues(world: &World, executor: &Executor) -> io::Result<Infallible> {
    let [connections, compactors] = two_queues(executor)?;
    for _ in 0..world.setup.compactors {
        drop(compactors.spawn(changed::program::compact(world.gate.clone(), world.setup.chunk)));
    }
    drop(connections.spawn(changed::program::accept(listen(world)?)));
    Ok(forever().await)
}
