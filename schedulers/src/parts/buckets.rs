//! A table of dense ids, each in at most one of a few thousand numbered lists, of which the lowest is found at once.

/// Says in a list that there is no neighbour.
const END: u32 = u32::MAX;

/// Says in an entry that it is in no bucket.
const NOWHERE: u32 = u32::MAX;

/// Words of the bitmap: as many as their summary has bits.
const WORDS: usize = 64;

/// Buckets are numbered below this.
pub(crate) const BUCKETS: u32 = 64 * WORDS as u32;

// An entry whose value takes 16 bytes is half a cache line, and never astride two.
const _: () = assert!(size_of::<Entry<[u64; 2]>>() == 32 && align_of::<Entry<[u64; 2]>>() == 32);

/// Values by dense id, and first-in-first-out lists of some of the ids, one for each bucket.
///
/// The links are inside the entries, so an id leaves the middle of a list in O(1). The lowest bucket that is not empty
/// takes two `trailing_zeros`.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<T> {
    entries: Vec<Entry<T>>,
    /// First and last of each bucket's list; `END` if empty.
    lists: Vec<List>,
    /// Bit *b* mod 64 of word *b* / 64 is set if and only if bucket *b* is not empty.
    words: [u64; WORDS],
    /// Bit *w* is set if and only if `words[w]` is not zero.
    summary: u64,
}

#[derive(Clone, Debug)]
#[repr(align(32))]
struct Entry<T> {
    value: T,
    /// The bucket that it is in, or `NOWHERE`; then `prev` and `next` mean nothing.
    bucket: u32,
    prev: u32,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: Self = Self { first: END, last: END };
}

impl<T: Default> Default for Entry<T> {
    fn default() -> Self {
        Self { value: T::default(), bucket: NOWHERE, prev: END, next: END }
    }
}

impl<T> Buckets<T> {
    /// Empty ones.
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), lists: Vec::new(), words: [0; WORDS], summary: 0 }
    }
}

impl<T: Default> Buckets<T> {
    /// The value of `id`, if it has one yet.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.entries.get(id as usize).map(|entry| &entry.value)
    }

    /// The value of `id`, a default one where it had none.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut T {
        let index = id as usize;
        if index >= self.entries.len() {
            self.grow(index);
        }
        &mut self.entries[index].value
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.entries.resize_with(index + 1, Entry::default);
    }

    /// The bucket that `id` is in.
    #[inline]
    pub(crate) fn bucket_of(&self, id: u32) -> Option<u32> {
        let bucket = self.entries.get(id as usize)?.bucket;
        (bucket != NOWHERE).then_some(bucket)
    }

    /// Puts `id` at the tail of `bucket`. No-op if it is in a bucket already, or has no value.
    #[inline]
    pub(crate) fn push_back(&mut self, bucket: u32, id: u32) {
        let Some(entry) = self.entries.get_mut(id as usize) else { return };
        if entry.bucket != NOWHERE {
            return;
        }
        if bucket as usize >= self.lists.len() {
            self.lists.resize(bucket as usize + 1, List::EMPTY);
        }
        let list = &mut self.lists[bucket as usize];
        let last = core::mem::replace(&mut list.last, id);
        (entry.bucket, entry.prev, entry.next) = (bucket, last, END);
        if last == END {
            list.first = id;
            self.mark_filled(bucket);
        } else {
            self.entries[last as usize].next = id;
        }
    }

    /// Takes `id` out of its bucket. No-op if it is in none.
    #[inline]
    pub(crate) fn unlink(&mut self, id: u32) {
        let Some(entry) = self.entries.get_mut(id as usize) else { return };
        let bucket = core::mem::replace(&mut entry.bucket, NOWHERE);
        let (prev, next) = (entry.prev, entry.next);
        let Some(list) = self.lists.get_mut(bucket as usize) else { return };
        match prev {
            END => list.first = next,
            _ => self.entries[prev as usize].next = next,
        }
        match next {
            END => list.last = prev,
            _ => self.entries[next as usize].prev = prev,
        }
        if prev == END && next == END {
            self.mark_empty(bucket);
        }
    }

    #[inline]
    fn mark_filled(&mut self, bucket: u32) {
        self.words[bucket as usize / 64] |= 1 << (bucket % 64);
        self.summary |= 1 << (bucket / 64);
    }

    #[inline]
    fn mark_empty(&mut self, bucket: u32) {
        let word = &mut self.words[bucket as usize / 64];
        *word &= !(1 << (bucket % 64));
        if *word == 0 {
            self.summary &= !(1 << (bucket / 64));
        }
    }

    /// The lowest bucket that is not empty.
    #[inline]
    pub(crate) fn lowest(&self) -> Option<u32> {
        let word = self.summary.trailing_zeros();
        let bits = self.words.get(word as usize)?;
        Some(64 * word + bits.trailing_zeros())
    }

    /// The first of a bucket that is not empty.
    #[inline]
    pub(crate) fn first_of(&self, bucket: u32) -> Option<u32> {
        self.lists.get(bucket as usize).map(|list| list.first)
    }

    /// The first of the lowest bucket that is not empty.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        self.first_of(self.lowest()?)
    }

    /// Counts `n` places on from the first, in the same bucket and round and round: the value there, and how often the
    /// end was passed. O(n).
    #[inline]
    pub(crate) fn behind_first(&self, n: usize) -> Option<(&T, usize)> {
        let first = self.first()?;
        let mut id = first;
        for place in 1..=n {
            id = self.entries.get(id as usize)?.next;
            if id == END {
                // As many as `place` are in the bucket.
                return self.nth_from(first, n % place).map(|value| (value, n / place));
            }
        }
        self.get(id).map(|value| (value, 0))
    }

    fn nth_from(&self, mut id: u32, n: usize) -> Option<&T> {
        for _ in 0..n {
            id = self.entries.get(id as usize)?.next;
        }
        self.get(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::{BTreeMap, VecDeque};

    type Model = BTreeMap<u32, VecDeque<u32>>;

    fn list(buckets: &Buckets<u64>, bucket: u32) -> Vec<u32> {
        let first = buckets.lists.get(bucket as usize).map_or(END, |list| list.first);
        let known = |id: u32| (id != END).then_some(id);
        core::iter::successors(known(first), |&id| known(buckets.entries[id as usize].next)).collect()
    }

    fn check(buckets: &Buckets<u64>, model: &Model) {
        let first = model.values().next().map(|list| list[0]);
        assert_eq!(buckets.first(), first);
        for n in 0..4 {
            let expected =
                model.values().next().map(|list| (u64::from(list[n % list.len()]), n / list.len()));
            assert_eq!(buckets.behind_first(n).map(|(&value, rounds)| (value, rounds)), expected);
        }
        let in_any = buckets.entries.iter().filter(|entry| entry.bucket != NOWHERE).count();
        assert_eq!(in_any, model.values().map(VecDeque::len).sum());
        for (&bucket, ids) in model {
            assert_eq!(*ids, list(buckets, bucket));
            assert!(ids.iter().all(|&id| buckets.bucket_of(id) == Some(bucket)));
        }
    }

    fn remove(model: &mut Model, id: u32) {
        model.values_mut().for_each(|ids| ids.retain(|&other| other != id));
        model.retain(|_, ids| !ids.is_empty());
    }

    #[test]
    fn agree_with_a_map_of_queues() {
        let mut random = Random::new(1);
        let (mut buckets, mut model) = (Buckets::new(), Model::new());
        (0..60).for_each(|id| *buckets.get_mut(id) = u64::from(id));
        // Few enough to be crowded, on both sides of a word's end and at both ends of the range.
        let numbers = [0, 1, 63, 64, 65, 1_000, BUCKETS - 1];
        for _ in 0..20_000 {
            let (id, bucket) = (random.below(60) as u32, numbers[random.below(7)]);
            remove(&mut model, id);
            buckets.unlink(id);
            if random.below(3) > 0 {
                buckets.push_back(bucket, id);
                buckets.push_back(5, id); // a wrong call
                model.entry(bucket).or_default().push_back(id);
            }
            check(&buckets, &model);
        }
        assert!((0..60).all(|id| buckets.get(id) == Some(&u64::from(id))), "values stay");
    }

    #[test]
    fn unknown_ids_are_ignored() {
        let mut buckets = Buckets::<u64>::new();
        buckets.push_back(3, 7);
        buckets.unlink(7);
        assert_eq!((buckets.first(), buckets.bucket_of(7), buckets.behind_first(0)), (None, None, None));
        *buckets.get_mut(7) = 1;
        buckets.unlink(7);
        assert_eq!((buckets.first(), buckets.get(6), buckets.get(8)), (None, Some(&0), None));
    }
}
