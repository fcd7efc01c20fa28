//! [`Ring`]: a FIFO list in one piece of memory, for what is pushed and popped with each poll.

/// The least memory, so that a ring does not grow again and again at first.
const FEWEST: usize = 4;

/// A FIFO list. As `VecDeque`, but the number of its places is a power of two, so that a place is found by a mask: a poll
/// under `RunnableFifo` or `WokenFirst` takes 2 or 3 instructions less by that.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// None, or a power of two. What is not in the list are items that were, or fill.
    places: Vec<T>,
    /// The number of the first item, counted for ever: its place is that number by the mask.
    first: usize,
    count: usize,
}

impl<T: Copy> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Ring<T> {
    /// Makes an empty one.
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), first: 0, count: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// For how many items there is memory.
    pub(crate) fn capacity(&self) -> usize {
        self.places.len()
    }

    /// The place of the item that is `ahead` of the first, or would be.
    #[inline]
    fn place(&self, ahead: usize) -> usize {
        self.first.wrapping_add(ahead) & self.places.len().wrapping_sub(1)
    }

    /// The item that is so many behind the first.
    #[inline]
    pub(crate) fn get(&self, ahead: usize) -> Option<T> {
        if ahead < self.count { self.places.get(self.place(ahead)).copied() } else { None }
    }

    #[inline]
    pub(crate) fn push_back(&mut self, item: T) {
        if self.count == self.places.len() {
            self.grow(item);
        }
        let place = self.place(self.count);
        if let Some(there) = self.places.get_mut(place) {
            *there = item;
        }
        self.count += 1;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let first = self.get(0)?;
        self.first = self.first.wrapping_add(1);
        self.count -= 1;
        Some(first)
    }

    /// Pushes an item and pops the first: the item itself, if the list is empty.
    #[inline]
    pub(crate) fn push_pop(&mut self, item: T) -> T {
        let Some(first) = self.get(0) else { return item };
        // Behind the last, which may be where the first was.
        let place = self.place(self.count);
        if let Some(there) = self.places.get_mut(place) {
            *there = item;
        }
        self.first = self.first.wrapping_add(1);
        first
    }

    /// Makes room for as many items again. What there is goes to the front of the memory; `fill` is for places without an item.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, fill: T) {
        self.resize((2 * self.places.len()).max(FEWEST), fill);
    }

    /// Gives back what is more than the memory for so many items, a power of two, of an empty list.
    pub(crate) fn shrink_to(&mut self, items: usize) {
        if self.is_empty() && self.places.len() > items {
            self.places.truncate(items.next_power_of_two());
            self.places.shrink_to_fit();
        }
    }

    fn resize(&mut self, places: usize, fill: T) {
        let start = self.place(0);
        self.places.rotate_left(start);
        self.places.resize(places, fill);
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Pushes, pops and both at once in all orders of ten, from an empty list and from one that has wrapped around: as `VecDeque`.
    #[test]
    fn it_is_a_fifo_list() {
        for program in 0..3_usize.pow(10) {
            let (mut ring, mut list) = (Ring::new(), VecDeque::new());
            let mut steps = program;
            for number in 0..10 {
                match steps % 3 {
                    0 => (ring.push_back(number), list.push_back(number)).0,
                    1 => assert_eq!(ring.pop_front(), list.pop_front()),
                    _ => {
                        list.push_back(number);
                        assert_eq!(Some(ring.push_pop(number)), list.pop_front());
                    }
                }
                steps /= 3;
            }
            assert_eq!(ring.len(), list.len());
            assert!((0..11).all(|ahead| ring.get(ahead) == list.get(ahead).copied()), "{program}");
        }
    }

    #[test]
    fn a_full_ring_that_has_wrapped_around_grows_in_order() {
        let mut ring = Ring::new();
        (0..4).for_each(|number| ring.push_back(number));
        assert_eq!((ring.push_pop(4), ring.push_pop(5), ring.capacity()), (0, 1, 4));
        ring.push_back(6);
        assert_eq!(ring.capacity(), 8);
        assert!((2..7).eq(std::iter::from_fn(|| ring.pop_front())));
    }

    #[test]
    fn an_empty_ring_gives_memory_back() {
        let mut ring = Ring::new();
        (0..1_000).for_each(|number| ring.push_back(number));
        ring.shrink_to(64);
        assert_eq!(ring.capacity(), 1_024, "as it has items");
        while ring.pop_front().is_some() {}
        ring.shrink_to(64);
        assert_eq!((ring.capacity(), ring.pop_front()), (64, None));
        ring.push_back(7);
        assert_eq!(ring.pop_front(), Some(7));
    }
}
