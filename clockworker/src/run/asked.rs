//! What other threads ask of an executor. It is answered at admission, between two polls.
//!
//! A question comes the way of tasks: as a cell in the inbox, which wakes the host. But its key names [no queue](NOWHERE), so it gets
//! no record, no scheduler hears of it, and it is counted nowhere. Tasks pay nothing for that: only what finds no queue is asked
//! whether it is a question.

use std::future::ready;

use super::{Core, context};
use crate::task::{JoinHandle, Label, LiveTask, RecordKey, SharedRef, spawn_remote};

/// No queue has this index.
const NOWHERE: u32 = u32::MAX - 1;

/// The key of a question.
pub(super) const QUESTION: RecordKey = RecordKey { queue: NOWHERE, slot: RecordKey::NO_SLOT, generation: 0 };

/// Asks the executor from any thread. The handle gives the answer, or an error if the executor is dropped first.
pub(crate) fn ask<T: Send + 'static>(
    shared: &SharedRef,
    question: impl FnOnce(&Core) -> T + Send + 'static,
) -> JoinHandle<Option<T>> {
    let answer = || ready(context::current().map(|core| question(&core)));
    spawn_remote(shared, QUESTION, None, Label::here(), answer)
}

impl Core {
    /// Answers a question, which came as a task.
    #[cold]
    pub(super) fn answer(&self, task: LiveTask) {
        if let Some(core) = self.this.upgrade() {
            self.charge_up_to_now();
            let _entered = context::enter(&core);
            // Wakes who asked, which is foreign code.
            task.poll_and_drop();
            self.meter.mark_stale();
        }
    }
}
