//! Where a server's tasks go.

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue};
use smol::LocalExecutor;
use tokio::task::spawn_local;

use super::Setup;
use crate::serving::server::give_up;

/// Where a server's tasks go: a connection is one in the foreground.
#[derive(Clone)]
pub(super) enum Tasks {
    #[cfg(target_os = "linux")]
    Monoio,
    LocalSet,
    LocalExecutor(Rc<LocalExecutor<'static>>),
    /// Into Clockworker's queues: the one it begins with where there is no background, else one for each side.
    Clockworker {
        foreground: Queue,
        background: Queue,
    },
}

pub(super) fn clockworker(setup: &Setup) -> io::Result<(Executor, Tasks)> {
    let mut builder = Executor::builder();
    if let Some(budget) = setup.host_budget_us {
        builder = builder.host_budget(Duration::from_micros(budget.into()));
    }
    let executor = builder.build().map_err(io::Error::other)?;
    let queue = |name, share| executor.new_queue(name).share(share).create().map_err(io::Error::other);
    let (foreground, background) = match setup.polls_us {
        None => (executor.default_queue().clone(), executor.default_queue().clone()),
        Some(_) => (queue("foreground", setup.foreground_share)?, queue("background", 1)?),
    };
    Ok((executor, Tasks::Clockworker { foreground, background }))
}

impl Tasks {
    /// Spawns what a client waits for. The server ends if it fails.
    pub(super) fn foreground(&self, task: impl Future<Output = io::Result<()>> + 'static) {
        self.spawn(async move { task.await.unwrap_or_else(|error| give_up(&error)) });
    }

    /// Spawns a task that no client waits for: like any other, where there is nothing else to tell.
    pub(super) fn background(&self, task: impl Future<Output = ()> + 'static) {
        match self {
            Tasks::Clockworker { background, .. } => drop(background.spawn(task)),
            _ => self.spawn(task),
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        match self {
            #[cfg(target_os = "linux")]
            Tasks::Monoio => drop(monoio::spawn(task)),
            Tasks::LocalSet => drop(spawn_local(task)),
            Tasks::LocalExecutor(executor) => executor.spawn(task).detach(),
            Tasks::Clockworker { foreground, .. } => drop(foreground.spawn(task)),
        }
    }
}
