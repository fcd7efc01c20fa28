//! One run of a shape, with what is timed between two calls.

use super::{Contender, host};
use crate::workload::self_waking::SelfWaking;
use crate::workload::shape::Shape;

/// Runs `shape` once, with `begin` before what is timed and `end` after it.
pub fn bracketed<B, T>(
    contender: &impl Contender,
    shape: Shape,
    begin: impl FnOnce() -> B,
    end: impl FnOnce(B) -> T,
) -> T {
    let host = host();
    let mut handles = Vec::with_capacity(shape.tasks);
    let root = async {
        handles.extend((0..shape.tasks).map(|task| contender.spawn(task, SelfWaking::new(shape.yields))));
        for handle in handles.drain(..) {
            handle.await.expect("a task that only yields does not fail");
        }
    };
    let begun = begin();
    host.block_on(contender.run_until(root));
    end(begun)
}
