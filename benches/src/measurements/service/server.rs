//! The service: a process of its own, with one thread that serves.

#[cfg(target_os = "linux")]
mod monoio;
mod tokio;

use std::io;
use std::time::Duration;

use clockworker::{Executor, Queue};
use serde::{Deserialize, Serialize};

use super::arm::{Arm, BACKGROUND_SHARE, FOREGROUND_SHARE};
use crate::failure::Failure;
use crate::serving::host::Host;
use crate::serving::server::stand;

/// A connection that says nothing for so long is closed. Longer than a server rests while others have their windows.
const PATIENCE: Duration = Duration::from_secs(300);

type World = crate::serving::server::World<Setup>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub(super) host: Host,
    pub(super) arm: Arm,
    pub(super) compactors: u32,
    /// The CPU time that each uses up between two yields.
    pub(super) chunk: Duration,
}

pub(crate) fn command(setup: &Setup) -> Result<(), Failure> {
    stand(setup, |world| match world.setup.host {
        #[cfg(target_os = "linux")]
        Host::Monoio => monoio::serve(world),
        #[cfg(not(target_os = "linux"))]
        Host::Monoio => Err(io::Error::other("monoio needs Linux")),
        Host::Tokio => tokio::serve(world),
        Host::Smol => Err(io::Error::other("this service does not run on smol")),
    })
}

fn two_queues(executor: &Executor) -> io::Result<[Queue; 2]> {
    let queue = |name, share| executor.new_queue(name).share(share).create().map_err(io::Error::other);
    Ok([queue("connections", FOREGROUND_SHARE)?, queue("compactors", BACKGROUND_SHARE)?])
}
