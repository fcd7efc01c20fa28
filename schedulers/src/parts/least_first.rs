//! A heap of dense ids by a key, in which an id can be found and moved.

/// So many children has a node: four entries are two cache lines, and the heap is half as high as with two.
const CHILDREN: usize = 4;

/// Says of an id that it is not in.
const OUT: u32 = u32::MAX;

/// Dense ids, each under a key, of which the least is known at once; at equal keys the one that came first.
///
/// Coming, going and moving cost O(log n). Memory is 32 bytes for each id that is in, and 4 for each that ever was.
#[derive(Clone, Debug)]
pub(crate) struct LeastFirst {
    heap: Vec<Entry>,
    /// By id, where in the heap it is, or `OUT`.
    places: Vec<u32>,
    /// How often an id has come. One a nanosecond would last for five centuries.
    comings: u64,
}

/// In the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: u128,
    coming: u64,
    id: u32,
}

impl LeastFirst {
    pub(crate) const fn new() -> Self {
        Self { heap: Vec::new(), places: Vec::new(), comings: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.place(id).is_some()
    }

    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        self.places.get(id as usize).filter(|&&place| place != OUT).map(|&place| place as usize)
    }

    /// The least key, and whose it is.
    #[inline]
    pub(crate) fn least(&self) -> Option<(u128, u32)> {
        self.heap.first().map(|entry| (entry.key, entry.id))
    }

    /// Puts `id` in under `key`, behind those of equal keys; or moves it there, if it is in.
    #[inline]
    pub(crate) fn put(&mut self, key: u128, id: u32) {
        let entry = self.entry(key, id);
        let Some(place) = self.place(id) else {
            if id as usize >= self.places.len() {
                self.places.resize(id as usize + 1, OUT);
            }
            self.heap.push(entry);
            return self.sift_up(self.heap.len() - 1, entry);
        };
        if entry < self.heap[place] {
            self.sift_up(place, entry);
        } else {
            self.sift_down(place, entry);
        }
    }

    /// Takes out the least.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let last = self.heap.pop()?;
        let Some(least) = self.heap.first() else {
            self.places[last.id as usize] = OUT;
            return Some(last.id);
        };
        let id = least.id;
        self.places[id as usize] = OUT;
        self.sift_down(0, last);
        Some(id)
    }

    /// [`put`](Self::put) of an id that is not in and whose key is not below the least, and [`pop`](Self::pop): whoever is the
    /// least by then.
    #[inline]
    pub(crate) fn put_and_pop(&mut self, key: u128, id: u32) -> u32 {
        let Some(least) = self.heap.first().map(|least| least.id) else { return id };
        if id as usize >= self.places.len() {
            self.places.resize(id as usize + 1, OUT);
        }
        let entry = self.entry(key, id);
        self.places[least as usize] = OUT;
        self.sift_down(0, entry);
        least
    }

    /// Gives memory back but that of `ids` ids, where none is in.
    pub(crate) fn shrink_to(&mut self, ids: usize) {
        if self.heap.is_empty() && self.places.capacity().max(self.heap.capacity()) > ids {
            self.places.clear();
            self.places.shrink_to(ids);
            self.heap.shrink_to(ids);
        }
    }

    #[inline]
    fn entry(&mut self, key: u128, id: u32) -> Entry {
        self.comings += 1;
        Entry { key, coming: self.comings, id }
    }

    /// Finds the place of `entry` from the free place `place` upwards.
    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent] < entry {
                break;
            }
            self.set(place, self.heap[parent]);
            place = parent;
        }
        self.set(place, entry);
    }

    /// Finds the place of `entry` from the free place `place` downwards.
    fn sift_down(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { break };
            if entry < self.heap[least] {
                break;
            }
            self.set(place, self.heap[least]);
            place = least;
        }
        self.set(place, entry);
    }

    #[inline]
    fn set(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.id as usize] = place as u32;
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
            assert_eq!(heap.least(), least(&model).map(|(key, _, id)| (key, id)));
            assert_eq!(heap.len(), model.len());
            assert_eq!(heap.contains(id), model.iter().any(|entry| entry.2 == id));
        }
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
        assert!(heap.heap.capacity() <= 64 && heap.places.capacity() <= 64);
        assert!(!heap.contains(9_999));
        heap.put(1, 9_999);
        assert_eq!(heap.pop(), Some(9_999));
    }
}
