//! A table of groups, each in at most one of a few thousand numbered lists, of which the lowest is found at once.

use super::bucket_entry::{EDGE, Entry};
use crate::parts::by_index;
use crate::parts::task_lists::TaskList;

/// Words of the bitmap: as many as their summary has bits.
const WORDS: usize = 64;

/// Buckets are numbered below this.
pub(super) const BUCKETS: u32 = 64 * WORDS as u32;

/// Says in a list that it is empty.
const NONE: u32 = u32::MAX;

/// What groups have attained and their ready tasks, by index, and first-in-first-out lists of some of the groups, one for each bucket.
///
/// The links are inside the entries, so a group leaves the middle of a list in O(1). Only the first and the last of a list say which
/// bucket it is, so a list moves to another in O(1), too. The lowest bucket that is not empty takes two `trailing_zeros`.
///
/// When all that is attained is [halved](Buckets::halve), no group is touched but these two of each list: what an entry says is taken
/// through the halvings that it has missed when it is looked at.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    entries: Vec<Entry>,
    lists: Vec<List>,
    /// Bit *b* mod 64 of word *b* / 64 is set if and only if bucket *b* is not empty.
    words: [u64; WORDS],
    /// Bit *w* is set if and only if `words[w]` is not zero.
    summary: u64,
    /// How often all was halved.
    halvings: u32,
    /// How often an id or a list was put into a bucket.
    #[cfg(test)]
    pub(super) moves: u32,
}

/// The first and the last of a bucket.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };
}

/// The buckets below one, for finding out fast whether any of them is in use.
#[derive(Clone, Copy)]
pub(super) struct Below {
    /// The words whose bits are all below it, one bit each.
    words: u64,
    /// Its word, and the bits below its own.
    word: u32,
    bits: u64,
}

impl Below {
    pub(super) const NONE: Self = Self { words: 0, word: 0, bits: 0 };

    #[inline]
    pub(super) const fn new(bucket: u32) -> Self {
        let word = bucket / 64 % WORDS as u32;
        Self { words: (1 << word) - 1, word, bits: (1 << (bucket % 64)) - 1 }
    }
}

impl Buckets {
    /// Empty ones.
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            lists: Vec::new(),
            words: [0; WORDS],
            summary: 0,
            halvings: 0,
            #[cfg(test)]
            moves: 0,
        }
    }

    /// What `id` has attained, in nanoseconds.
    pub(super) fn attained_ns(&self, id: u32) -> u64 {
        self.entries.get(id as usize).map_or(0, |entry| entry.attained.ns(self.halvings))
    }

    /// The entry of `id`, a new one where it had none. It has been through all halvings.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut Entry {
        let index = id as usize;
        if index >= self.entries.len() {
            by_index::grow(&mut self.entries, index, Entry::new);
        }
        let entry = &mut self.entries[index];
        if entry.attained.halvings() != self.halvings {
            entry.attained.catch_up(self.halvings);
        }
        entry
    }

    /// Puts `id` at the tail of `bucket`. No-op if it is in a bucket already, or has no entry.
    #[inline(always)] // a call takes 15 instructions
    pub(super) fn push_back(&mut self, bucket: u32, id: u32) {
        #[cfg(test)]
        (self.moves += 1);
        if bucket as usize >= self.lists.len() {
            self.grow_lists(bucket);
        }
        let Some(entry) = self.entries.get_mut(id as usize).filter(|entry| !entry.is_linked()) else {
            return;
        };
        let list = &mut self.lists[bucket as usize];
        let last = core::mem::replace(&mut list.last, id);
        entry.next = EDGE | bucket;
        if last == NONE {
            entry.prev = EDGE | bucket;
            list.first = id;
            self.mark_filled(bucket);
        } else {
            entry.prev = last;
            self.entries[last as usize].next = id;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow_lists(&mut self, bucket: u32) {
        self.lists.resize(bucket as usize + 1, List::EMPTY);
    }

    /// Puts `id` at the head of `bucket`; else as [`push_back`](Self::push_back).
    pub(super) fn push_front(&mut self, bucket: u32, id: u32) {
        let first = self.lists.get(bucket as usize).map_or(NONE, |list| list.first);
        if first == NONE {
            return self.push_back(bucket, id);
        }
        #[cfg(test)]
        (self.moves += 1);
        let Some(entry) = self.entries.get_mut(id as usize).filter(|entry| !entry.is_linked()) else {
            return;
        };
        (entry.prev, entry.next) = (EDGE | bucket, first);
        self.entries[first as usize].prev = id;
        self.lists[bucket as usize].first = id;
    }

    /// Takes the first out of a bucket that is not empty.
    #[inline]
    pub(super) fn pop_first(&mut self, bucket: u32) -> Option<u32> {
        let list = self.lists.get_mut(bucket as usize)?;
        let id = list.first;
        let entry = self.entries.get_mut(id as usize)?;
        entry.leave();
        let next = entry.next;
        if next & EDGE == 0 {
            list.first = next;
            self.entries[next as usize].prev = EDGE | bucket;
        } else {
            *list = List::EMPTY;
            self.mark_empty(bucket);
        }
        Some(id)
    }

    /// Takes `id` out of its bucket. No-op if it is in none.
    pub(super) fn unlink(&mut self, id: u32) {
        let Some(entry) = self.entries.get_mut(id as usize).filter(|entry| entry.is_linked()) else { return };
        let (prev, next) = (entry.prev, entry.next);
        entry.leave();
        match (prev & EDGE == 0, next & EDGE == 0) {
            (false, false) => {
                self.lists[(prev & !EDGE) as usize] = List::EMPTY;
                self.mark_empty(prev & !EDGE);
                return;
            }
            (false, true) => self.lists[(prev & !EDGE) as usize].first = next,
            (true, false) => self.lists[(next & !EDGE) as usize].last = prev,
            (true, true) => {}
        }
        if prev & EDGE == 0 {
            self.entries[prev as usize].next = next;
        }
        if next & EDGE == 0 {
            self.entries[next as usize].prev = prev;
        }
    }

    /// Halves all that is attained. The ids of a bucket go to the one that `target` says, as by [`join`](Self::join).
    pub(super) fn halve(&mut self, target: impl Fn(u32) -> u32) {
        self.halvings += 1;
        self.join(target);
    }

    /// Puts the ids of each bucket behind those of another, in order: of one that is not higher, and not lower for a higher bucket.
    /// O(buckets in use), of which there are [`BUCKETS`] at most.
    pub(super) fn join(&mut self, target: impl Fn(u32) -> u32) {
        let mut next = self.at_or_above(0);
        while let Some(from) = next {
            let to = target(from);
            if to < from {
                self.move_behind(from, to);
            }
            next = self.at_or_above(from + 1);
        }
    }

    /// Puts the list of a bucket that is not empty behind that of a lower one.
    fn move_behind(&mut self, from: u32, to: u32) {
        #[cfg(test)]
        (self.moves += 1);
        let List { first, last } = core::mem::replace(&mut self.lists[from as usize], List::EMPTY);
        self.mark_empty(from);
        let end = core::mem::replace(&mut self.lists[to as usize].last, last);
        self.entries[last as usize].next = EDGE | to;
        if end == NONE {
            self.lists[to as usize].first = first;
            self.entries[first as usize].prev = EDGE | to;
            self.mark_filled(to);
        } else {
            self.entries[end as usize].next = first;
            self.entries[first as usize].prev = end;
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
    pub(super) fn lowest(&self) -> Option<u32> {
        let word = self.summary.trailing_zeros();
        let bits = self.words.get(word as usize)?;
        Some(64 * word + bits.trailing_zeros())
    }

    /// Whether any of these buckets is not empty.
    #[inline]
    pub(super) fn is_any(&self, below: Below) -> bool {
        self.summary & below.words != 0 || self.words[below.word as usize % WORDS] & below.bits != 0
    }

    /// The lowest from `bucket` on that is not empty.
    fn at_or_above(&self, bucket: u32) -> Option<u32> {
        let word = bucket / 64;
        let bits = self.words.get(word as usize)? & (!0 << (bucket % 64));
        if bits != 0 {
            return Some(64 * word + bits.trailing_zeros());
        }
        // Shifted in two steps, as a shift by 64 is not defined.
        let word = (self.summary & (!0 << word << 1)).trailing_zeros();
        self.words.get(word as usize).map(|bits| 64 * word + bits.trailing_zeros())
    }

    /// The next above `bucket` that is not empty, or else the lowest.
    pub(super) fn next_after(&self, bucket: u32) -> Option<u32> {
        self.at_or_above(bucket + 1).or_else(|| self.lowest())
    }

    /// The first of a bucket, if it is not empty.
    #[inline]
    pub(super) fn first(&self, bucket: u32) -> Option<u32> {
        self.lists.get(bucket as usize).map(|list| list.first).filter(|&first| first != NONE)
    }

    /// The one behind it, if there is one.
    pub(super) fn second(&self, bucket: u32) -> Option<u32> {
        self.next(self.first(bucket)?)
    }

    #[inline]
    fn next(&self, id: u32) -> Option<u32> {
        self.entries.get(id as usize).map(|entry| entry.next).filter(|next| next & EDGE == 0)
    }

    /// Counts `n` places on from the first of the lowest bucket that is not empty, in the same bucket and round and round: the tasks
    /// there, and how often the end was passed. O(n).
    #[inline]
    pub(super) fn behind_first(&self, n: usize) -> Option<(TaskList, usize)> {
        let first = self.first(self.lowest()?)?;
        let mut id = first;
        for place in 1..=n {
            let Some(next) = self.next(id) else {
                // As many as `place` are in the bucket.
                let again = core::iter::successors(Some(first), |&id| self.next(id)).nth(n % place)?;
                return self.entries.get(again as usize).map(|entry| (entry.tasks, n / place));
            };
            id = next;
        }
        self.entries.get(id as usize).map(|entry| (entry.tasks, 0))
    }

    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// Gives memory back, and says whether it did, if more than half of it is for others than `kept` ids and all up to the last that is in
    /// a bucket or has attained something. O(1) for each id behind that one which has come since the last time.
    pub(super) fn give_back(&mut self, kept: usize) -> bool {
        let matters = |entry: &Entry| entry.is_linked() || entry.attained.ns(self.halvings) > 0;
        let used = self.entries.iter().rposition(matters).map_or(0, |last| last + 1);
        self.entries.truncate(used);
        let gives = self.entries.capacity() / 2 > used.max(kept);
        if gives {
            self.entries.shrink_to(kept);
        }
        gives
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskId;
    use crate::random::Random;
    use std::collections::{BTreeMap, VecDeque};

    type Model = BTreeMap<u32, VecDeque<u32>>;

    fn list(buckets: &Buckets, bucket: u32) -> Vec<u32> {
        core::iter::successors(buckets.first(bucket), |&id| buckets.next(id)).collect()
    }

    /// Those of a group.
    fn tasks(id: u32) -> TaskList {
        TaskList::of(TaskId::new(id, 0))
    }

    fn check(buckets: &Buckets, model: &Model) {
        let lowest = model.first_key_value();
        assert_eq!(buckets.lowest(), lowest.map(|(&bucket, _)| bucket));
        for n in 0..4 {
            let expected = lowest.map(|(_, list)| (tasks(list[n % list.len()]), n / list.len()));
            assert_eq!(buckets.behind_first(n), expected);
        }
        let in_any = buckets.entries.iter().filter(|entry| entry.is_linked()).count();
        assert_eq!(in_any, model.values().map(VecDeque::len).sum());
        for bucket in [0, 1, 64, 1_001, BUCKETS - 1] {
            assert_eq!(
                buckets.is_any(Below::new(bucket)),
                lowest.is_some_and(|(&lowest, _)| lowest < bucket)
            );
        }
        let mut after = BUCKETS - 1;
        for (&bucket, ids) in model {
            assert_eq!(buckets.next_after(after), Some(bucket));
            assert_eq!(
                (list(buckets, bucket), buckets.second(bucket)),
                (ids.clone().into(), ids.get(1).copied())
            );
            let edges = [*ids.front().unwrap(), *ids.back().unwrap()].map(|id| &buckets.entries[id as usize]);
            assert_eq!([edges[0].prev, edges[1].next], [EDGE | bucket; 2]);
            after = bucket;
        }
    }

    fn half(bucket: u32) -> u32 {
        if bucket < 128 { bucket / 2 } else { bucket - 64 }
    }

    /// Each bucket's ids go to that of half the value, behind those that are there.
    fn halve(model: &mut Model) {
        for (bucket, ids) in std::mem::take(model) {
            model.entry(half(bucket)).or_default().extend(ids);
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
        (0..60).for_each(|id| buckets.get_mut(id).tasks = tasks(id));
        // Few enough to be crowded, on both sides of a word's end and at both ends of the range.
        let numbers = [0, 1, 63, 64, 65, 1_000, BUCKETS - 1];
        for _ in 0..20_000 {
            let (id, bucket) = (random.below(60) as u32, numbers[random.below(7)]);
            if random.one_in(100) {
                buckets.halve(half);
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
            match random.below(4) {
                0 => {}
                1 => {
                    buckets.push_front(bucket, id);
                    model.entry(bucket).or_default().push_front(id);
                }
                _ => {
                    buckets.push_back(bucket, id);
                    buckets.push_back(5, id); // a wrong call
                    model.entry(bucket).or_default().push_back(id);
                }
            }
            check(&buckets, &model);
        }
        assert!((0..60).all(|id| buckets.get_mut(id).tasks == tasks(id)), "tasks stay");
    }

    #[test]
    fn what_is_attained_is_halved_when_it_is_looked_at() {
        let mut buckets = Buckets::new();
        buckets.get_mut(3).attained.add(1_001, 0);
        (0..2).for_each(|_| buckets.halve(half));
        assert_eq!(buckets.attained_ns(3), 250);
        assert_eq!((buckets.get_mut(3).attained_ns(), buckets.get_mut(4).attained_ns()), (250, 0));
    }

    #[test]
    fn unknown_ids_are_ignored() {
        let mut buckets = Buckets::new();
        buckets.push_back(3, 7);
        buckets.unlink(7);
        assert_eq!((buckets.lowest(), buckets.next_after(0)), (None, None));
        assert_eq!((buckets.behind_first(0), buckets.second(3)), (None, None));
        buckets.get_mut(7);
        buckets.unlink(7);
        assert_eq!((buckets.lowest(), buckets.attained_ns(7), buckets.attained_ns(1_000)), (None, 0, 0));
    }

    #[test]
    fn memory_is_given_back_but_for_what_matters() {
        let mut buckets = Buckets::new();
        buckets.get_mut(100_000);
        buckets.get_mut(2_000).attained.add(4, 0);
        buckets.push_back(0, 1_000);
        assert!(buckets.give_back(64) && buckets.capacity() == 2_001);
        assert!(!buckets.give_back(64));
        assert_eq!((buckets.attained_ns(2_000), buckets.lowest()), (4, Some(0)));
        (0..3).for_each(|_| buckets.halve(half));
        assert!(!buckets.give_back(64), "less than half of it would be given back");
        buckets.unlink(1_000);
        assert!(buckets.give_back(64) && buckets.capacity() == 64);
        assert_eq!(buckets.attained_ns(2_000), 0);
    }
}
