//! Tasks with a probe.

use std::rc::Rc;

use clockworker::{Executor, JoinHandle};

use super::{Probe, settle};

/// A new task and its probe.
pub(crate) fn probed(ex: &Executor) -> (Rc<Probe>, JoinHandle<u32>) {
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    (probe, task)
}

/// As [`probed`]; the task was polled once and waits.
pub(crate) fn parked(ex: &Executor) -> (Rc<Probe>, JoinHandle<u32>) {
    let task = probed(ex);
    settle(ex);
    task
}
