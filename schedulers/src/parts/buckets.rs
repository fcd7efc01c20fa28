//! A table of dense ids, each in at most one of a few thousand numbered lists, of which the lowest is found at once.

use super::bucket_entry::{END, Entry, NOWHERE, OCTAVE};
use super::by_index;

/// Words of the bitmap: as many as their summary has bits.
const WORDS: usize = 64;

/// Buckets are numbered below this.
pub(crate) const BUCKETS: u32 = 64 * WORDS as u32;

/// What ids have attained and a value for each, and first-in-first-out lists of some of the ids, one for each bucket.
///
/// The links are inside the entries, so an id leaves the middle of a list in O(1). The lowest bucket that is not empty
/// takes two `trailing_zeros`.
///
/// Buckets are log-linear, as in an HDR histogram: 128 of one unit, then 64 for each power of two. So when all that is attained is
/// [halved](Buckets::halve) the buckets move as they are, and no id is touched: an entry says what was true before the halvings
/// that it has not been through, and is taken through them when it is looked at.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<T> {
    entries: Vec<Entry<T>>,
    /// First and last of each bucket's list; `END` if empty.
    lists: Vec<List>,
    /// Bit *b* mod 64 of word *b* / 64 is set if and only if bucket *b* is not empty.
    words: [u64; WORDS],
    /// Bit *w* is set if and only if `words[w]` is not zero.
    summary: u64,
    /// How often all was halved.
    halvings: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: Self = Self { first: END, last: END };
}

impl<T> Buckets<T> {
    /// Empty ones.
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), lists: Vec::new(), words: [0; WORDS], summary: 0, halvings: 0 }
    }
}

impl<T: Default> Buckets<T> {
    /// The value of `id`, if the table has come to it: the default one if `id` was never seen.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.entries.get(id as usize).map(|entry| &entry.value)
    }

    /// What `id` has attained, in nanoseconds.
    pub(crate) fn attained_ns(&self, id: u32) -> u64 {
        self.entries.get(id as usize).map_or(0, |entry| entry.ns_after(self.halvings))
    }

    /// The entry of `id`, a new one where it had none. It has been through all halvings.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Entry<T> {
        let index = id as usize;
        if index >= self.entries.len() {
            by_index::grow(&mut self.entries, index, Entry::default);
        }
        let entry = &mut self.entries[index];
        if entry.halvings() != self.halvings {
            entry.catch_up(self.halvings);
        }
        entry
    }

    /// Puts `id` at the tail of `bucket`. No-op if it is in a bucket already, or has no value. It has been through all halvings.
    #[inline(always)] // a call takes 15 instructions
    pub(crate) fn push_back(&mut self, bucket: u32, id: u32) {
        if bucket as usize >= self.lists.len() {
            self.grow_lists(bucket);
        }
        let Some(entry) = self.entries.get_mut(id as usize).filter(|entry| entry.bucket == NOWHERE) else {
            return;
        };
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

    #[cold]
    #[inline(never)]
    fn grow_lists(&mut self, bucket: u32) {
        self.lists.resize(bucket as usize + 1, List::EMPTY);
    }

    /// Puts `id` at the head of `bucket`; else as [`push_back`](Self::push_back).
    pub(crate) fn push_front(&mut self, bucket: u32, id: u32) {
        let first = self.lists.get(bucket as usize).map_or(END, |list| list.first);
        if first == END {
            return self.push_back(bucket, id);
        }
        let Some(entry) = self.entries.get_mut(id as usize).filter(|entry| entry.bucket == NOWHERE) else {
            return;
        };
        (entry.bucket, entry.prev, entry.next) = (bucket, END, first);
        self.entries[first as usize].prev = id;
        self.lists[bucket as usize].first = id;
    }

    /// Takes the first out of a bucket that is not empty.
    #[inline]
    pub(crate) fn pop_first(&mut self, bucket: u32) -> Option<u32> {
        let list = self.lists.get_mut(bucket as usize)?;
        let id = list.first;
        let entry = self.entries.get_mut(id as usize)?;
        entry.bucket = NOWHERE;
        let next = entry.next;
        list.first = next;
        if next == END {
            list.last = END;
            self.mark_empty(bucket);
        } else {
            self.entries[next as usize].prev = END;
        }
        Some(id)
    }

    /// Takes `id` out of its bucket. No-op if it is in none.
    pub(crate) fn unlink(&mut self, id: u32) {
        let Some(entry) = self.entries.get_mut(id as usize) else { return };
        if entry.halvings() != self.halvings {
            entry.catch_up(self.halvings);
        }
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

    /// Halves all that is attained: the buckets move, in O(the number of buckets), and no id does.
    pub(crate) fn halve(&mut self) {
        self.halvings += 1;
        if self.lists.len() < 2 * OCTAVE as usize {
            self.lists.resize(2 * OCTAVE as usize, List::EMPTY);
        }
        (0..OCTAVE as usize).for_each(|unit| self.lists[unit] = self.join(2 * unit));
        self.lists.drain(OCTAVE as usize..2 * OCTAVE as usize);
        self.words[0] =
            (0..OCTAVE).filter(|&unit| self.lists[unit as usize].first != END).map(|unit| 1 << unit).sum();
        self.words.copy_within(2.., 1);
        self.words[WORDS - 1] = 0;
        self.summary = ((self.summary >> 1) & !1) | u64::from(self.words[0] != 0);
    }

    /// One list of a bucket's and behind it that of the next.
    fn join(&mut self, bucket: usize) -> List {
        let [lower, upper] = [self.lists[bucket], self.lists[bucket + 1]];
        if lower.first == END || upper.first == END {
            return if lower.first == END { upper } else { lower };
        }
        self.entries[lower.last as usize].next = upper.first;
        self.entries[upper.first as usize].prev = lower.last;
        List { first: lower.first, last: upper.last }
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

    /// The first of the lowest bucket that is not empty.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        self.lists.get(self.lowest()? as usize).map(|list| list.first)
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
            assert!(ids.iter().all(|&id| now_in(buckets, id) == Some(bucket)));
        }
    }

    /// The bucket that an id is in, whether it has been through all halvings or not.
    fn now_in(buckets: &Buckets<u64>, id: u32) -> Option<u32> {
        let mut entry = buckets.entries[id as usize].clone();
        entry.catch_up(buckets.halvings);
        (entry.bucket != NOWHERE).then_some(entry.bucket)
    }

    /// Each bucket's ids go to that of half the value, behind those that are there.
    fn halve(model: &mut Model) {
        for (bucket, ids) in std::mem::take(model) {
            let half = if bucket < 128 { bucket / 2 } else { bucket - 64 };
            model.entry(half).or_default().extend(ids);
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
        (0..60).for_each(|id| **buckets.get_mut(id) = u64::from(id));
        // Few enough to be crowded, on both sides of a word's end and at both ends of the range.
        let numbers = [0, 1, 63, 64, 65, 1_000, BUCKETS - 1];
        for _ in 0..20_000 {
            let (id, bucket) = (random.below(60) as u32, numbers[random.below(7)]);
            if random.one_in(100) {
                buckets.halve();
                halve(&mut model);
                check(&buckets, &model);
            }
            remove(&mut model, id);
            buckets.unlink(id);
            buckets.get_mut(id);
            if let Some(lowest) = buckets.lowest().filter(|_| random.one_in(8)) {
                let first = buckets.pop_first(lowest).unwrap();
                assert_eq!(model.values().next().map(|list| list[0]), Some(first));
                remove(&mut model, first);
            }
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
    fn what_is_attained_is_halved_when_it_is_looked_at() {
        let mut buckets = Buckets::<u64>::new();
        buckets.get_mut(3).add(1_001);
        (0..2).for_each(|_| buckets.halve());
        assert_eq!(buckets.attained_ns(3), 250);
        assert_eq!((buckets.get_mut(3).attained_ns(), buckets.get_mut(4).attained_ns()), (250, 0));
    }

    #[test]
    fn unknown_ids_are_ignored() {
        let mut buckets = Buckets::<u64>::new();
        buckets.push_back(3, 7);
        buckets.unlink(7);
        assert_eq!((buckets.first(), buckets.lowest(), buckets.behind_first(0)), (None, None, None));
        **buckets.get_mut(7) = 1;
        buckets.unlink(7);
        assert_eq!((buckets.first(), buckets.get(6), buckets.get(8)), (None, Some(&0), None));
    }
}
