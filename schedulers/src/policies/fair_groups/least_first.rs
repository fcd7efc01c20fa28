//! Dense ids by a key, in which an id can be found and moved.

use crate::parts::by_index;
use crate::parts::ring::Ring;

/// So many children has a node: four entries are two cache lines, and the heap is half as high as with two.
const CHILDREN: usize = 4;

/// Says of an id that it is not in.
const OUT: u32 = u32::MAX;

/// Says of an id that it is in the row. The other bits, but for the highest, are the end of its number there. (Ids are below 2³⁰, so
/// the row is shorter than that, and two in it never have the same end.)
const ROW: u32 = 1 << 30;
/// So many that were moved elsewhere may always be in the row.
const FEW: usize = 64;

/// Dense ids, each under a key, of which the least is known at once; at equal keys the one that came first.
///
/// An id that comes with the least key of all stands in a *row*, behind those that came so before it; the others are in a heap.
/// So coming and going is O(1) for ids that come first, or all under one key, and O(log n) else; and so is moving. Memory is four
/// bytes for each id that is in the row, 32 for each in the heap, and four for each that ever was in.
#[derive(Clone, Debug)]
pub(super) struct LeastFirst {
    heap: Vec<Entry>,
    /// Ids under `row_key`, by coming. Those that were moved elsewhere since are still there, but never in front. An id of the
    /// heap under the same key came before all of them.
    row: Ring<u32>,
    row_key: u128,
    /// The number of the first in the row: they are numbered as they come.
    row_start: u32,
    /// Ids in the row, without those that were moved.
    in_row: usize,
    /// By id: its place in the heap, or `ROW` and its number there, or `OUT`.
    seats: Vec<u32>,
    /// How often an id has come. One a nanosecond would last for five centuries.
    comings: u64,
}

/// In the order of the key, then of coming.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u128,
    coming: u64,
    id: u32,
}

impl Entry {
    /// Fills a place until an entry is put there.
    const EMPTY: Self = Self { key: 0, coming: 0, id: 0 };

    /// Whether it goes before `other`. Computed and not branched to, as it cannot be foreseen.
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        (self.key < other.key) | ((self.key == other.key) & (self.coming < other.coming))
    }
}

/// The seat of the id that has this number in the row.
#[inline]
fn in_row(number: u32) -> u32 {
    ROW | number & (ROW - 1)
}

impl LeastFirst {
    pub(super) const fn new() -> Self {
        Self {
            heap: Vec::new(),
            row: Ring::new(),
            row_key: 0,
            row_start: 0,
            in_row: 0,
            seats: Vec::new(),
            comings: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len() + self.in_row
    }

    #[inline]
    pub(super) fn contains(&self, id: u32) -> bool {
        self.seats.get(id as usize).is_some_and(|&seat| seat != OUT)
    }

    /// The least key.
    #[inline]
    pub(super) fn least(&self) -> Option<u128> {
        match self.heap.first() {
            Some(entry) if self.row.is_empty() || entry.key <= self.row_key => Some(entry.key),
            _ => (!self.row.is_empty()).then_some(self.row_key),
        }
    }

    /// Puts `id` in under `key`, behind those of equal keys; or moves it there, if it is in.
    #[inline(always)] // a call takes 20 instructions
    pub(super) fn put(&mut self, key: u128, id: u32) {
        if self.seats.get(id as usize).is_none_or(|&seat| seat != OUT) {
            self.make_out(id);
        }
        if !self.row.is_empty() && key != self.row_key {
            return self.put_beside_row(key, id);
        }
        if !self.row.is_empty() || self.heap.first().is_none_or(|least| key <= least.key) {
            self.put_in_row(key, id);
        } else {
            self.put_in_heap(key, id);
        }
    }

    /// Has an id be out that was in, or never was.
    #[cold]
    #[inline(never)]
    fn make_out(&mut self, id: u32) {
        match self.seats.get(id as usize) {
            None => by_index::grow(&mut self.seats, id as usize, || OUT),
            Some(_) => self.remove(id),
        }
    }

    #[inline]
    fn put_in_row(&mut self, key: u128, id: u32) {
        self.seats[id as usize] = in_row(self.row_start.wrapping_add(self.row.len() as u32));
        self.row.push_back(id);
        (self.row_key, self.in_row) = (key, self.in_row + 1);
    }

    /// Puts `id` in the heap; or, if one of a higher key stands in the row alone, that one, which would send all through the heap
    /// that come before it.
    #[inline(never)]
    fn put_beside_row(&mut self, key: u128, id: u32) {
        if key < self.row_key && self.row.len() == 1 {
            if let Some(alone) = self.row.get(0) {
                self.pop_row(alone);
                self.put_in_heap(self.row_key, alone);
            }
            return self.put(key, id);
        }
        self.put_in_heap(key, id);
    }

    #[inline(never)]
    fn put_in_heap(&mut self, key: u128, id: u32) {
        self.comings += 1;
        self.heap.push(Entry::EMPTY);
        self.sift_up(self.heap.len() - 1, Entry { key, coming: self.comings, id });
    }

    /// Takes out the least.
    #[inline(always)] // as `put`
    pub(super) fn pop(&mut self) -> Option<u32> {
        match self.row.get(0) {
            Some(id) if self.heap.first().is_none_or(|least| self.row_key < least.key) => {
                Some(self.pop_row(id))
            }
            _ => self.pop_heap(),
        }
    }

    /// Takes the least out of the heap.
    #[inline(never)]
    fn pop_heap(&mut self) -> Option<u32> {
        let id = self.heap.first()?.id;
        self.remove(id);
        Some(id)
    }

    /// Takes `id` out, which is the first of the row.
    #[inline]
    fn pop_row(&mut self, id: u32) -> u32 {
        self.seats[id as usize] = OUT;
        self.row.pop_front();
        self.row_start = self.row_start.wrapping_add(1);
        self.in_row -= 1;
        if self.row.len() > self.in_row {
            self.trim_row();
        }
        id
    }

    /// [`put`](Self::put) of an id that is not in and whose key is not below the least, and [`pop`](Self::pop) of the least by
    /// then.
    #[inline]
    pub(super) fn put_and_pop(&mut self, key: u128, id: u32) -> u32 {
        let (Some(least), true) = (self.heap.first().map(|least| least.id), self.row.is_empty()) else {
            self.put(key, id);
            return self.pop().unwrap_or(id);
        };
        if id as usize >= self.seats.len() {
            by_index::grow(&mut self.seats, id as usize, || OUT);
        }
        self.comings += 1;
        self.seats[least as usize] = OUT;
        self.sift_down(0, Entry { key, coming: self.comings, id });
        least
    }

    /// Takes `id` out, if it is in.
    fn remove(&mut self, id: u32) {
        let seat = core::mem::replace(&mut self.seats[id as usize], OUT);
        match seat {
            OUT => {}
            ROW.. => {
                self.in_row -= 1;
                self.trim_row();
                if self.row.len() > 2 * self.in_row + FEW {
                    self.tidy_row();
                }
            }
            place => self.remove_from_heap(place as usize),
        }
    }

    /// Drops those that were moved elsewhere from the front.
    fn trim_row(&mut self) {
        while let Some(id) = self.row.get(0)
            && self.seats[id as usize] != in_row(self.row_start)
        {
            self.row.pop_front();
            self.row_start = self.row_start.wrapping_add(1);
        }
    }

    /// Drops those that were moved elsewhere, and numbers the others anew.
    #[cold]
    fn tidy_row(&mut self) {
        let (mut old, mut new) = (self.row_start, self.row_start);
        for _ in 0..self.row.len() {
            let Some(id) = self.row.pop_front() else { return };
            let seat = &mut self.seats[id as usize];
            if *seat == in_row(old) {
                // Not above any number that is still to be looked at.
                *seat = in_row(new);
                new = new.wrapping_add(1);
                self.row.push_back(id);
            }
            old = old.wrapping_add(1);
        }
    }

    fn remove_from_heap(&mut self, place: usize) {
        let Some(last) = self.heap.pop() else { return };
        match self.heap.get(place) {
            None => {} // it was the last itself
            Some(removed) if last.is_before(removed) => self.sift_up(place, last),
            Some(_) => self.sift_down(place, last),
        }
    }

    /// Gives memory back but that of `ids` ids, where none is in.
    pub(super) fn shrink_to(&mut self, ids: usize) {
        let most = self.seats.capacity().max(self.heap.capacity()).max(self.row.capacity());
        if self.len() == 0 && most > ids {
            self.seats.clear();
            self.seats.shrink_to(ids);
            self.heap.shrink_to(ids);
            self.row.shrink_to(ids);
        }
    }

    /// Finds the place of `entry` from the free place `place` upwards.
    #[inline] // a call would hand the entry over in memory, and what copies it would wait for its parts
    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent].is_before(&entry) {
                break;
            }
            self.set(place, self.heap[parent]);
            place = parent;
        }
        self.set(place, entry);
    }

    /// Finds the place of `entry` from the free place `place` downwards.
    #[inline] // as `sift_up`
    fn sift_down(&mut self, mut place: usize, entry: Entry) {
        while let Some(least) = self.least_child(place) {
            if entry.is_before(&self.heap[least]) {
                break;
            }
            self.set(place, self.heap[least]);
            place = least;
        }
        self.set(place, entry);
    }

    /// Where the least child of a place is.
    #[inline]
    fn least_child(&self, place: usize) -> Option<usize> {
        let first = place * CHILDREN + 1;
        let children = self.heap.get(first..)?;
        if let Some([a, b, c, d]) = children.first_chunk::<CHILDREN>() {
            let (one, other) = (usize::from(b.is_before(a)), 2 + usize::from(d.is_before(c)));
            let other_is_less = children[other].is_before(&children[one]);
            return Some(first + if other_is_less { other } else { one });
        }
        let before = |one: usize, other: usize| {
            if children[other].is_before(&children[one]) { other } else { one }
        };
        (0..children.len()).reduce(before).map(|least| first + least)
    }

    /// Part by part: an entry that has just been made would be put together on the stack, and its copy would wait for the parts.
    #[inline]
    fn set(&mut self, place: usize, Entry { key, coming, id }: Entry) {
        let there = &mut self.heap[place];
        (there.key, there.coming, there.id) = (key, coming, id);
        self.seats[id as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The least of the model: key, coming, id.
    fn least(model: &[(u128, u64, u32)]) -> Option<(u128, u64, u32)> {
        model.iter().min().copied()
    }

    #[test]
    fn agrees_with_a_scan() {
        let mut random = Random::new(1);
        let (mut heap, mut model) = (LeastFirst::new(), Vec::new());
        for step in 0..60_000_u64 {
            // Few keys, so that there are ties; some of them far away.
            let key = (random.below(9) as u128) << (60 * random.below(3));
            let id = random.below(if step / 5_000 % 2 == 0 { 4 } else { 200 }) as u32;
            let known = model.iter().position(|entry: &(u128, u64, u32)| entry.2 == id);
            match random.below(4) {
                0 => {
                    let expected = least(&model);
                    assert_eq!(heap.pop(), expected.map(|entry| entry.2));
                    model.retain(|entry| Some(*entry) != expected);
                }
                1 if known.is_none() => {
                    let key = key.max(least(&model).map_or(0, |entry| entry.0));
                    model.push((key, step, id));
                    let expected = least(&model).unwrap();
                    assert_eq!(heap.put_and_pop(key, id), expected.2);
                    model.retain(|entry| *entry != expected);
                }
                _ => {
                    heap.put(key, id);
                    known.map(|at| model.swap_remove(at));
                    model.push((key, step, id));
                }
            }
            assert_eq!(heap.least(), least(&model).map(|entry| entry.0));
            assert_eq!(heap.len(), model.len());
            assert_eq!(heap.contains(id), model.iter().any(|entry| entry.2 == id));
        }
    }

    #[test]
    fn moving_about_takes_no_memory() {
        let mut ids = LeastFirst::new();
        ids.put(1, 0);
        for _ in 0..100_000 {
            ids.put(1, 1);
            ids.put(2, 2);
        }
        assert!(ids.row.len() <= 2 * ids.in_row + FEW + 1, "{}", ids.row.len());
        assert_eq!([ids.pop(), ids.pop(), ids.pop(), ids.pop()], [Some(0), Some(1), Some(2), None]);
        assert!(ids.row.is_empty() && ids.heap.is_empty());
    }

    #[test]
    fn one_of_a_higher_key_does_not_send_all_through_the_heap() {
        let mut ids = LeastFirst::new();
        ids.put(7, 0);
        (1..=100).for_each(|id| ids.put(3, id));
        assert_eq!((ids.heap.len(), ids.row.len()), (1, 100));
        assert!(core::iter::from_fn(|| ids.pop()).eq((1..=100).chain([0])));
    }

    #[test]
    fn gives_memory_back_when_it_is_empty() {
        let mut heap = LeastFirst::new();
        (0..10_000).for_each(|id| heap.put(u128::from(id % 7), id));
        heap.shrink_to(64);
        assert_eq!(heap.len(), 10_000, "it is not empty");
        let order: Vec<u32> = core::iter::from_fn(|| heap.pop()).collect();
        let mut expected: Vec<u32> = (0..10_000).collect();
        expected.sort_by_key(|id| id % 7);
        assert_eq!(order, expected, "first come, first served at equal keys");
        heap.shrink_to(64);
        assert!(heap.heap.capacity() <= 64 && heap.seats.capacity() <= 64 && heap.row.capacity() <= 64);
        assert!(!heap.contains(9_999));
        heap.put(1, 9_999);
        assert_eq!(heap.pop(), Some(9_999));
    }
}
