//! monoio's own executor.

use std::cell::RefCell;

use monoio::time::TimeDriver;
use monoio::{FusionDriver, FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};

use super::Runner;

/// monoio's runtime with timers: on io_uring if the kernel has it for us, else on epoll.
pub struct Monoio(RefCell<FusionRuntime<TimeDriver<IoUringDriver>, TimeDriver<LegacyDriver>>>);

impl Default for Monoio {
    fn default() -> Self {
        let built = RuntimeBuilder::<FusionDriver>::new().enable_timer().build();
        Monoio(RefCell::new(built.expect("a process can open one more driver")))
    }
}

impl Runner for Monoio {
    type Task = monoio::task::JoinHandle<()>;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        monoio::spawn(task)
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.0.borrow_mut().block_on(root)
    }
}
