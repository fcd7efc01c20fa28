//! glommio's own executor.

use glommio::{LocalExecutor, LocalExecutorBuilder, Placement, Task};

use super::Runner;

/// glommio's executor with little I/O memory, so that it fits under the usual limit of locked memory.
pub(super) struct Glommio(LocalExecutor);

fn build() -> Result<LocalExecutor, String> {
    let builder = LocalExecutorBuilder::new(Placement::Unbound).io_memory(64 << 10);
    builder.make().map_err(|error| error.to_string())
}

pub(super) fn is_available() -> bool {
    build().is_ok()
}

impl Default for Glommio {
    fn default() -> Self {
        Glommio(build().expect("it was available when the run began"))
    }
}

impl Runner for Glommio {
    type Task = Task<()>;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        glommio::spawn_local(task)
    }

    fn spawn_detached(&self, lane: usize, task: impl Future<Output = ()> + 'static) {
        drop(self.spawn(lane, task).detach());
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.0.run(root)
    }
}
