//! Who runs the tasks: all that differs between the two executors.

use std::error::Error;

use clockworker::schedulers::FairGroups;
use clockworker::{Executor, Group};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use crate::options::ExecutorKind;
use crate::tenant::Tenant;

/// An executor of `!Send` tasks, to be run inside tokio.
pub(crate) enum Runner {
    LocalSet(LocalSet),
    Clockworker { executor: Executor, tenants: Vec<Group> },
}

/// Where a tenant's tasks go. A `LocalSet` makes no difference between tenants.
pub(crate) enum Spawner {
    LocalSet,
    Clockworker(Vec<Group>),
}

impl Runner {
    pub(crate) fn new(kind: ExecutorKind, tenants: &[Tenant]) -> Result<Self, Box<dyn Error>> {
        if kind == ExecutorKind::LocalSet {
            return Ok(Self::LocalSet(LocalSet::new()));
        }
        let executor = Executor::builder().scheduler(FairGroups::new()).build()?;
        let queue = executor.default_queue();
        let open = |(tenant, key): (&Tenant, u64)| queue.new_group(key).weight(tenant.weight).open();
        let tenants = tenants.iter().zip(0..).map(open).collect::<Result<_, _>>()?;
        Ok(Self::Clockworker { executor, tenants })
    }

    pub(crate) fn spawner(&self) -> Spawner {
        match self {
            Self::LocalSet(_) => Spawner::LocalSet,
            Self::Clockworker { tenants, .. } => Spawner::Clockworker(tenants.clone()),
        }
    }

    pub(crate) fn run<F: Future>(&self, rt: &Runtime, future: F) -> F::Output {
        match self {
            Self::LocalSet(local) => rt.block_on(local.run_until(future)),
            Self::Clockworker { executor, .. } => rt.block_on(executor.run_until(future)),
        }
    }
}

impl Spawner {
    /// Spawns a task on behalf of a tenant. What it spawns with `spawn_local` is that tenant's, too.
    pub(crate) fn spawn(&self, tenant: usize, task: impl Future<Output = ()> + 'static) {
        match self {
            Self::LocalSet => drop(tokio::task::spawn_local(task)),
            Self::Clockworker(tenants) => drop(tenants[tenant].spawn(task)),
        }
    }
}
