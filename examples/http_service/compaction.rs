//! The background: compacts the store, over and over.

use std::cell::RefCell;
use std::rc::Rc;

use crate::counters::Counters;
use crate::store::Store;

/// Compacts these shards one after the other, then begins again: there is always work, and it always yields soon. Ends
/// when it is dropped.
///
/// The yield is a plain one that works under any executor: the task wakes itself and returns.
pub(crate) async fn run(
    store: Rc<RefCell<Store>>,
    counters: Rc<Counters>,
    shards: impl Iterator<Item = usize> + Clone,
    chunk: u32,
) {
    for shard in shards.cycle() {
        let mut merge = store.borrow_mut().begin_merge(shard);
        while merge.step(chunk) {
            counters.chunks.add(1);
            clockworker::yield_now().await;
        }
        let (merged, corrupt) = merge.finish();
        store.borrow_mut().finish_merge(shard, merged);
        counters.chunks.add(1);
        counters.merges.add(1);
        counters.corrupt.add(corrupt);
        clockworker::yield_now().await;
    }
}
