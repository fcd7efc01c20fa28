//! The cores that this process may use.

use core_affinity::CoreId;

pub(super) struct Cores(Vec<CoreId>);

impl Cores {
    pub(super) fn allowed() -> Self {
        // None where the system does not say.
        Self(core_affinity::get_core_ids().unwrap_or_default())
    }

    pub(super) fn count(&self) -> usize {
        self.0.len().max(1)
    }

    /// The core of that thread. If there are more threads than cores, they share.
    pub(super) fn core(&self, thread: usize) -> Option<CoreId> {
        self.0.get(thread % self.count()).copied()
    }
}
