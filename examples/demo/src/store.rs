//! The store: sorted runs, which compaction merges.

use std::rc::Rc;

/// Parts of the store by key. Each has a compactor.
pub(crate) const SHARDS: u64 = 16;

/// Rows of each shard's older run.
const ROWS: u64 = 1 << 15;

/// The bytes of a row.
pub(crate) const ROW: usize = 24;

/// Of all shards.
pub(crate) const KEYS: u64 = SHARDS * ROWS;

/// A key, a value, and the checksum of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    key: u64,
    value: u64,
    checksum: u64,
}

impl Row {
    fn new(key: u64, value: u64) -> Self {
        Self { key, value, checksum: checksum(key, value) }
    }

    pub(crate) fn bytes(&self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        let fields = [self.key, self.value, self.checksum];
        bytes
            .chunks_exact_mut(8)
            .zip(fields)
            .for_each(|(chunk, field)| chunk.copy_from_slice(&field.to_le_bytes()));
        bytes
    }
}

/// FNV-1a.
fn checksum(key: u64, value: u64) -> u64 {
    let bytes = [key, value].into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

type Run = Rc<Vec<Row>>;

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Store {
    shards: Vec<Shard>,
}

#[derive(Debug)]
struct Shard {
    older: Run,
    /// What was written since: each eighth row.
    newer: Run,
}

impl Store {
    pub(crate) fn new() -> Self {
        let shard = |shard| {
            let older = (0..ROWS).map(|row| Row::new(row * SHARDS + shard, row));
            let newer = (0..ROWS).step_by(8).map(|row| Row::new(row * SHARDS + shard, row + 1));
            Shard { older: Rc::new(older.collect()), newer: Rc::new(newer.collect()) }
        };
        Self { shards: (0..SHARDS).map(shard).collect() }
    }

    /// The newest row of a key.
    pub(crate) fn get(&self, key: u64) -> Option<Row> {
        let Shard { older, newer } = &self.shards[(key % SHARDS) as usize];
        let in_run = |run: &Run| run.binary_search_by_key(&key, |row| row.key).ok().map(|at| run[at]);
        in_run(newer).or_else(|| in_run(older))
    }

    /// Begins to merge the runs of a shard, which serves meanwhile.
    pub(crate) fn begin_merge(&self, shard: usize) -> Merge {
        let Shard { older, newer } = &self.shards[shard];
        Merge {
            inputs: [older.clone(), newer.clone()],
            heads: [0; 2],
            output: Vec::with_capacity(older.len()),
        }
    }

    pub(crate) fn finish_merge(&mut self, shard: usize, merge: Merge) {
        self.shards[shard].older = Rc::new(merge.output);
    }
}

/// A merge under way.
#[derive(Debug)]
pub(crate) struct Merge {
    inputs: [Run; 2],
    heads: [usize; 2],
    output: Vec<Row>,
}

impl Merge {
    /// Merges at most so many rows. How many it was.
    pub(crate) fn step(&mut self, most: usize) -> usize {
        let [older, newer] = &self.inputs;
        let before = self.output.len();
        while self.output.len() - before < most {
            let [old, new] = [older.get(self.heads[0]), newer.get(self.heads[1])];
            let (row, steps) = match (old, new) {
                (None, None) => break,
                (Some(old), Some(new)) if old.key == new.key => (new, [1, 1]),
                (Some(old), Some(new)) if old.key > new.key => (new, [0, 1]),
                (Some(old), _) => (old, [1, 0]),
                (None, Some(new)) => (new, [0, 1]),
            };
            // As a store does that reads its data back: a damaged row goes no further.
            if row.checksum == checksum(row.key, row.value) {
                self.output.push(*row);
            }
            self.heads[0] += steps[0];
            self.heads[1] += steps[1];
        }
        self.output.len() - before
    }

    pub(crate) fn is_done(&self) -> bool {
        self.inputs.iter().zip(self.heads).all(|(input, head)| head == input.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_keeps_each_key_with_its_newest_value() {
        let mut store = Store::new();
        let before: Vec<Option<Row>> = (0..=KEYS).map(|key| store.get(key)).collect();
        let mut merge = store.begin_merge(3);
        let mut steps = Vec::new();
        while !merge.is_done() {
            steps.push(merge.step(10_000));
        }
        assert_eq!(steps, [10_000, 10_000, 10_000, 2_768]);
        store.finish_merge(3, merge);
        assert_eq!(store.shards[3].older[8], Row::new(8 * SHARDS + 3, 9));
        assert_eq!((0..=KEYS).map(|key| store.get(key)).collect::<Vec<_>>(), before);
        assert_eq!(before.iter().filter(|row| row.is_none()).count(), 1, "of the key behind the last");
    }
}
