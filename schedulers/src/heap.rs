//! The heap under [`Eevdf`](crate::Eevdf): a 4-ary min-heap over dense ids that knows where each id is.
//!
//! Four children per node halve the depth of a binary heap, and four 32-byte entries share two cache lines, so a sift
//! misses the cache less often than it compares.

/// Says in `positions` that an id is not in the heap.
const ABSENT: u32 = u32::MAX;

/// Children per node.
const ARITY: usize = 4;

/// A 4-ary min-heap of `(key, id)` with the position of each id, so that any of them can be re-keyed or taken out.
///
/// Entries with equal keys are ordered by id, so the order is total. Invariants: an entry is not above a smaller one;
/// `entries[positions[id]].1 == id` for each id inside, `positions[id] == ABSENT` or out of range for all others.
#[derive(Clone, Debug)]
pub(crate) struct IndexedHeap<K> {
    entries: Vec<(K, u32)>,
    positions: Vec<u32>,
}

impl<K> Default for IndexedHeap<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), positions: Vec::new() }
    }
}

impl<K: Ord + Copy> IndexedHeap<K> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.position(id).is_some()
    }

    /// The least entry.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    /// Puts `id` in under `key`; re-keys it where it is in already.
    pub(crate) fn push(&mut self, key: K, id: u32) {
        if self.contains(id) {
            return self.update(id, key);
        }
        let index = id as usize;
        if index >= self.positions.len() {
            self.positions.resize(index + 1, ABSENT);
        }
        self.entries.push((key, id));
        self.sift_up(self.entries.len() - 1, (key, id));
    }

    /// Takes the least entry out.
    pub(crate) fn pop(&mut self) -> Option<(K, u32)> {
        let least = self.peek()?;
        self.remove(least.1);
        Some(least)
    }

    /// Takes `id` out; `None` if it is not in.
    pub(crate) fn remove(&mut self, id: u32) -> Option<K> {
        let at = self.position(id)?;
        self.positions[id as usize] = ABSENT;
        let (key, _) = self.entries[at];
        let last = self.entries.pop()?;
        if at < self.entries.len() {
            self.place(at, last);
        }
        Some(key)
    }

    /// Re-keys `id` with one sift, which compares and stops at once where the order still holds. No-op if it is not in.
    #[inline]
    pub(crate) fn update(&mut self, id: u32, key: K) {
        if let Some(at) = self.position(id) {
            self.place(at, (key, id));
        }
    }

    /// Gives each id a new key and restores the order, in O(n).
    pub(crate) fn rekey(&mut self, key_of: impl Fn(u32) -> K) {
        for entry in &mut self.entries {
            entry.0 = key_of(entry.1);
        }
        for at in (0..self.entries.len().div_ceil(ARITY)).rev() {
            self.sift_down(at, self.entries[at]);
        }
    }

    #[inline]
    fn position(&self, id: u32) -> Option<usize> {
        match self.positions.get(id as usize) {
            Some(&at) if at != ABSENT => Some(at as usize),
            _ => None,
        }
    }

    /// Puts `entry` where it belongs, given that `at` is free for it.
    #[inline]
    fn place(&mut self, at: usize, entry: (K, u32)) {
        if at > 0 && entry < self.entries[(at - 1) / ARITY] {
            self.sift_up(at, entry);
        } else {
            self.sift_down(at, entry);
        }
    }

    /// Moves the hole at `at` up until `entry` fits into it.
    fn sift_up(&mut self, mut at: usize, entry: (K, u32)) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if entry >= self.entries[parent] {
                break;
            }
            self.set(at, self.entries[parent]);
            at = parent;
        }
        self.set(at, entry);
    }

    /// Moves the hole at `at` down until `entry` fits into it.
    fn sift_down(&mut self, mut at: usize, entry: (K, u32)) {
        while let Some(child) = self.least_child(at) {
            if entry < self.entries[child] {
                break;
            }
            self.set(at, self.entries[child]);
            at = child;
        }
        self.set(at, entry);
    }

    /// The least child of the node at `at`.
    #[inline]
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = at * ARITY + 1;
        if let Some(children) = self.entries.get(first..first + ARITY) {
            // Computed, not branched to: which child is least is random, and would be mispredicted at every other node.
            let left = usize::from(children[1] < children[0]);
            let right = 2 + usize::from(children[3] < children[2]);
            let right_is_least = usize::from(children[right] < children[left]);
            return Some(first + left + (right - left) * right_is_least);
        }
        (first..self.entries.len()).min_by_key(|&child| self.entries[child])
    }

    #[inline]
    fn set(&mut self, at: usize, entry: (K, u32)) {
        self.entries[at] = entry;
        self.positions[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn check(heap: &IndexedHeap<u64>, model: &BTreeSet<(u64, u32)>) {
        assert_eq!(heap.len(), model.len());
        assert_eq!(heap.peek(), model.first().copied());
        for (at, &(_, id)) in heap.entries.iter().enumerate() {
            assert_eq!(heap.positions[id as usize] as usize, at);
            assert!(at == 0 || heap.entries[(at - 1) / ARITY] <= heap.entries[at], "order at {at}");
        }
        let inside = heap.positions.iter().filter(|&&at| at != ABSENT).count();
        assert_eq!(inside, model.len());
    }

    #[test]
    fn agrees_with_an_ordered_set() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        let (mut heap, mut model) = (IndexedHeap::default(), BTreeSet::new());
        for _ in 0..20_000 {
            let (key, id) = (next() % 50, (next() % 90) as u32);
            let known = model.iter().find(|entry: &&(u64, u32)| entry.1 == id).copied();
            assert_eq!(heap.contains(id), known.is_some());
            match next() % 5 {
                0 | 1 => {
                    known.map(|entry| model.remove(&entry));
                    heap.push(key, id);
                    model.insert((key, id));
                }
                2 => assert_eq!(heap.pop(), model.pop_first()),
                3 => assert_eq!(heap.remove(id), known.map(|entry| (model.remove(&entry), entry.0).1)),
                _ => {
                    heap.update(id, key);
                    if let Some(entry) = known {
                        model.remove(&entry);
                        model.insert((key, id));
                    }
                }
            }
            check(&heap, &model);
        }
    }

    #[test]
    fn rekey_restores_the_order() {
        let (mut heap, mut model) = (IndexedHeap::default(), BTreeSet::new());
        for id in 0..300 {
            heap.push(u64::from(id), id);
        }
        let key = |id: u32| u64::from(id).wrapping_mul(0x9E37_79B9) % 101;
        heap.rekey(key);
        model.extend((0..300).map(|id| (key(id), id)));
        check(&heap, &model);
    }
}
