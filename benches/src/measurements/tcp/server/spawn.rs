//! Where a server's tasks go.

use std::future::Future;
use std::io;

use clockworker::{Executor, Queue};

use crate::measurements::tcp::setup::Setup;

/// Spawns a server's tasks: a connection is one in the foreground.
pub trait Spawn {
    /// Spawns what a client waits for.
    fn foreground(&self, task: impl Future<Output = ()> + 'static);

    /// Spawns a task that is not awaited: like any other, where there is nothing else to tell.
    fn background(&self, task: impl Future<Output = ()> + 'static) {
        self.foreground(task);
    }
}

/// Clockworker's queues: the one it begins with where there is no background, else one for each side.
#[derive(Clone, Debug)]
pub struct Queues {
    foreground: Queue,
    background: Queue,
}

/// An executor as `setup` has it, and its queues.
///
/// # Errors
///
/// If the setup is out of range.
pub fn clockworker(setup: &Setup) -> io::Result<(Executor, Queues)> {
    let mut builder = Executor::builder();
    if let Some(budget) = setup.host_budget {
        builder = builder.host_budget(budget);
    }
    let executor = builder.build().map_err(io::Error::other)?;
    let queue = |name, share| executor.new_queue(name).share(share).create().map_err(io::Error::other);
    let queues = match &setup.background {
        None => {
            let only = executor.default_queue().clone();
            Queues { foreground: only.clone(), background: only }
        }
        Some(background) => Queues {
            foreground: queue("foreground", background.foreground_share)?,
            background: queue("background", 1)?,
        },
    };
    Ok((executor, queues))
}

impl Spawn for Queues {
    fn foreground(&self, task: impl Future<Output = ()> + 'static) {
        drop(self.foreground.spawn(task));
    }

    fn background(&self, task: impl Future<Output = ()> + 'static) {
        drop(self.background.spawn(task));
    }
}
