//! A key-value store in memory, built like one on disk: what was written recently in a tree, the rest in sorted runs,
//! which compaction merges.

use std::collections::BTreeMap;
use std::rc::Rc;

use hyper::body::Bytes;

use crate::merge::{Merge, Run};

/// The parts of the store, by a hash of the key. Each is compacted by itself.
pub(crate) const SHARDS: usize = 64;

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Store {
    shards: Vec<Shard>,
}

#[derive(Debug, Default)]
struct Shard {
    recent: BTreeMap<Rc<str>, Entry>,
    /// The newest first.
    runs: Vec<Rc<Run>>,
}

impl Store {
    /// A store with this many keys, each written twice, so that there is something to compact.
    pub(crate) fn filled(keys: usize) -> Self {
        let mut store = Self { shards: std::iter::repeat_with(Shard::default).take(SHARDS).collect() };
        for generation in 0..2 {
            for index in 0..keys {
                let text = format!("value {index}, written {generation} times before");
                store.put(&format!("key-{index:06}"), format!("{text:<100}").into());
            }
            store.shards.iter_mut().for_each(Shard::flush);
        }
        store
    }

    pub(crate) fn get(&self, key: &str) -> Option<Bytes> {
        self.shards[shard(key)].get(key).map(|entry| entry.value.clone())
    }

    pub(crate) fn put(&mut self, key: &str, value: Bytes) {
        let entry = Entry::new(key, value);
        self.shards[shard(key)].recent.insert(Rc::clone(&entry.key), entry);
    }

    /// Begins to compact a shard. It goes on answering and taking writes meanwhile.
    pub(crate) fn begin_merge(&mut self, shard: usize) -> Merge {
        let shard = &mut self.shards[shard];
        shard.flush();
        Merge::new(shard.runs.clone())
    }

    /// Puts a merged run in the place of those it was merged of, which are all that there are: only a merge adds runs,
    /// and there is one at a time in a shard.
    pub(crate) fn finish_merge(&mut self, shard: usize, merged: Run) {
        self.shards[shard].runs = vec![Rc::new(merged)];
    }
}

fn shard(key: &str) -> usize {
    fnv(&[key.as_bytes()]) as usize % SHARDS
}

impl Shard {
    fn get(&self, key: &str) -> Option<&Entry> {
        let in_run = |run: &Rc<Run>| run.binary_search_by(|entry| (*entry.key).cmp(key)).ok();
        let older = || self.runs.iter().find_map(|run| in_run(run).map(|at| &run[at]));
        self.recent.get(key).or_else(older)
    }

    /// Makes a run of what was written recently.
    fn flush(&mut self) {
        if !self.recent.is_empty() {
            let recent = std::mem::take(&mut self.recent);
            self.runs.insert(0, Rc::new(recent.into_values().collect()));
        }
    }
}

/// An entry of the store. A clone shares key and value with it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Rc<str>,
    pub(crate) value: Bytes,
    checksum: u64,
}

impl Entry {
    pub(crate) fn new(key: &str, value: Bytes) -> Self {
        let checksum = fnv(&[key.as_bytes(), &value]);
        Self { key: key.into(), value, checksum }
    }

    pub(crate) fn is_intact(&self) -> bool {
        self.checksum == fnv(&[self.key.as_bytes(), &self.value])
    }
}

/// The hash of Fowler, Noll and Vo (FNV-1a), of these parts one after the other.
pub(crate) fn fnv(parts: &[&[u8]]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, step)
}
