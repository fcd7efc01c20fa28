//! The compactors' work.

use std::sync::Arc;
use std::time::Duration;

use crate::serving::gate::Gate;
use crate::workload::spin;

/// Work that never ends, in chunks. Each compactor has a copy.
#[derive(Clone, Debug)]
pub struct Compaction {
    gate: Arc<Gate>,
    chunk: Duration,
}

impl Compaction {
    /// Chunks of so much CPU time, while `gate` is open.
    pub fn new(gate: Arc<Gate>, chunk: Duration) -> Self {
        Compaction { gate, chunk }
    }

    /// Works off a chunk. Waits first, if another server has its window: this takes nothing but a load as long as it need
    /// not wait.
    pub async fn chunk(&self) {
        self.gate.admitted().await;
        spin::burn(self.chunk);
        self.gate.count();
    }
}
