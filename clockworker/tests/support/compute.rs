//! Tasks that take time.

use std::time::Duration;

use clockworker::yield_now;

use super::VirtualTime;

/// Computes for ever, in polls of that length.
pub(crate) fn compute(sim: &VirtualTime, poll: Duration) -> impl Future<Output = ()> + use<> {
    let sim = sim.clone();
    async move {
        loop {
            sim.work(poll);
            yield_now().await;
        }
    }
}
