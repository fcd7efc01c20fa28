//! The order under [`Eevdf`](crate::Eevdf): a tournament between ids in seats, whose least key is known at once.
//!
//! A change of one key replays the matches above its seat, one per level. Which matches those are depends on the seat alone
//! and not on the keys, so there is nothing for the processor to mispredict, and the opponents can be fetched
//! before it is known who meets them. A heap moves less and waits more.

/// Bits of an entry that are the id's.
const ID_BITS: u32 = 24;

/// A key and, in the low bits, its id: the lesser of two entries is that of the lesser key, or at equal keys that of the
/// lower id, in one comparison. An i128 in two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    low: u64,
    high: i64,
}

/// Who is not in: 1.25 · 2¹²⁶. It loses against everybody, as entries are from −2¹²⁵ to 2¹²⁶ + 2²⁴, and its difference
/// from any of them fits 128 bits.
const NOBODY: Entry = Entry { low: 0, high: 5 << 60 };

impl Entry {
    #[inline]
    fn new(key: i128, id: u32) -> Self {
        let entry = key << ID_BITS | i128::from(id);
        Self { low: entry as u64, high: (entry >> 64) as i64 }
    }

    #[inline]
    fn is_somebody(self) -> bool {
        self.high != NOBODY.high
    }

    #[inline]
    fn split(self) -> Option<(i128, u32)> {
        let id = self.low as u32 & ((1 << ID_BITS) - 1);
        self.is_somebody().then_some((self.value() >> ID_BITS, id))
    }

    #[inline]
    fn value(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }

    /// The lesser of the two. Who wins cannot be foreseen, so this is computed and not branched to: from the sign of the
    /// difference, as compilers make a branch of a minimum of 128 bits, also of a selection by a condition.
    #[inline]
    fn lesser(self, other: Self) -> Self {
        let (_, borrow) = other.low.overflowing_sub(self.low);
        // All ones where `other` is less, else zero. Does not overflow: see `NOBODY`.
        let less = other.high.wrapping_sub(self.high).wrapping_sub(i64::from(borrow)) >> 63;
        Self {
            low: self.low ^ ((self.low ^ other.low) & less as u64),
            high: self.high ^ ((self.high ^ other.high) & less),
        }
    }
}

/// So many seats are always in use, empty or not: two queues that take turns in being runnable move no root.
const FEW: usize = 4;

/// The least of the keys in some seats, of which the first so many are in use, each by one id or nobody. Keys are from −2¹⁰¹
/// to 2¹⁰², ids are below 2²⁴.
///
/// A change costs one match per doubling of the seats in use, however many seats there are.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Node n is the lesser of nodes 2n and 2n + 1, its children. The second half of the nodes are the seats. Node 0 is not
    /// used.
    nodes: Vec<Entry>,
    /// The node that is over all seats in use, and is the winner. Nodes above it mean nothing.
    root: usize,
}

impl Default for Tournament {
    fn default() -> Self {
        Self { nodes: vec![NOBODY; 2 * FEW], root: 1 }
    }
}

impl Tournament {
    /// Makes room for so many seats.
    pub(super) fn reserve(&mut self, seats: usize) {
        let (old, new) = (self.capacity(), seats.next_power_of_two());
        if new <= old {
            return;
        }
        let seated = self.nodes.split_off(old);
        self.nodes.clear();
        self.nodes.resize(new, NOBODY);
        self.nodes.extend(seated);
        self.nodes.resize(2 * new, NOBODY);
        self.root *= new / old;
        self.play_all();
    }

    /// Says that the first `seats` seats are in use: fewer than before, or one more, and there is room. Those that come into
    /// use or go out of it are empty.
    #[inline]
    pub(super) fn resize(&mut self, seats: usize) {
        let root = self.capacity() >> seats.max(FEW).next_power_of_two().trailing_zeros();
        if root < self.root {
            // All of the other half is new.
            self.nodes[root] = self.nodes[self.root];
        }
        self.root = root;
    }

    /// Whether an id has that seat. None has one that is not there.
    #[inline]
    pub(super) fn is_taken(&self, seat: usize) -> bool {
        self.nodes.get(self.capacity() + seat).is_some_and(|entry| entry.is_somebody())
    }

    /// The least key, and whose it is.
    #[inline]
    pub(super) fn peek(&self) -> Option<(i128, u32)> {
        self.nodes[self.root].split()
    }

    /// Gives the seat to `id`, under `key`.
    #[inline]
    pub(super) fn put(&mut self, seat: usize, key: i128, id: u32) {
        self.replay(seat, Entry::new(key, id));
    }

    /// Empties the seat.
    #[inline]
    pub(super) fn clear(&mut self, seat: usize) {
        self.replay(seat, NOBODY);
    }

    /// Moves who sits in the seat `from`, if anybody, to the seat `to`, which is empty. Whose id that was.
    pub(super) fn shift(&mut self, from: usize, to: usize) -> Option<u32> {
        let entry = self.nodes[self.capacity() + from];
        let (_, id) = entry.split()?;
        self.clear(from);
        self.replay(to, entry);
        Some(id)
    }

    /// Gives each id a new key, in O(n).
    pub(super) fn rekey(&mut self, key_of: impl Fn(u32) -> i128) {
        let seats = self.capacity();
        for entry in &mut self.nodes[seats..] {
            if let Some((_, id)) = entry.split() {
                *entry = Entry::new(key_of(id), id);
            }
        }
        self.play_all();
    }

    #[inline]
    fn capacity(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Puts `entry` into a seat, and plays all its matches.
    #[inline]
    fn replay(&mut self, seat: usize, entry: Entry) {
        let (mut node, mut winner) = (self.capacity() + seat, entry);
        self.nodes[node] = winner;
        while node > self.root {
            winner = winner.lesser(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = winner;
        }
    }

    fn play_all(&mut self) {
        for node in (1..self.capacity()).rev() {
            self.nodes[node] = self.nodes[2 * node].lesser(self.nodes[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// `seats` says who sits where, under which key.
    fn check(tournament: &Tournament, seats: &[Option<(i128, u32)>]) {
        assert_eq!(tournament.peek(), seats.iter().flatten().min().copied());
        let capacity = tournament.capacity();
        for (seat, entry) in seats.iter().enumerate() {
            assert_eq!(tournament.is_taken(seat), entry.is_some());
            assert_eq!(tournament.nodes[capacity + seat].split(), *entry);
        }
        assert!((seats.len()..capacity).all(|seat| !tournament.is_taken(seat)));
    }

    #[test]
    fn agrees_with_a_scan() {
        let mut random = Random::new(1);
        let (mut tournament, mut seats) = (Tournament::default(), vec![None]);
        for round in 0..40_000_u64 {
            let (key, id) = (random.below(50) as i128 - 25, random.below(1_000) as u32);
            let seat = random.below(seats.len());
            // Grows, then shrinks, in waves.
            let growing = round / 200 % 2 == 0;
            match random.below(6) {
                0 | 1 if growing => {
                    tournament.reserve(seats.len() + 1);
                    seats.push(None);
                    tournament.resize(seats.len());
                }
                0 | 1 if seats.len() > 1 => {
                    tournament.clear(seat);
                    seats[seat] = None;
                    let last = seats.len() - 1;
                    assert_eq!(tournament.shift(last, seat), seats[last].map(|(_, id)| id));
                    seats.swap_remove(seat);
                    tournament.resize(last);
                }
                2 => {
                    tournament.clear(seat);
                    seats[seat] = None;
                }
                _ => {
                    tournament.put(seat, key, id);
                    seats[seat] = Some((key, id));
                }
            }
            check(&tournament, &seats);
        }
    }

    #[test]
    fn entries_at_the_ends_of_the_range_keep_their_order() {
        let (last, far) = ((1 << ID_BITS) - 1, 1_i128 << 102);
        let ascending =
            [(-far / 2, 0), (-far / 2, last), (1 - far / 2, 0), (-1, last), (0, 0), (0, last), (far, last)];
        let entries = ascending.map(|(key, id)| Entry::new(key, id));
        for (n, &entry) in entries.iter().enumerate() {
            assert_eq!(entry.split(), Some(ascending[n]));
            for &later in entries[n + 1..].iter().chain([&NOBODY]) {
                assert!(entry.lesser(later) == entry && later.lesser(entry) == entry, "{entry:?} {later:?}");
            }
        }
        assert_eq!(NOBODY.lesser(NOBODY).split(), None);
    }

    #[test]
    fn rekey_restores_the_order() {
        let (mut tournament, mut seats) = (Tournament::default(), Vec::new());
        tournament.reserve(300);
        let key = |id: u32| i128::from(id.wrapping_mul(0x9E37_79B9) % 101);
        for id in 0..300 {
            tournament.resize(id as usize + 1);
            tournament.put(id as usize, i128::from(id), id);
            seats.push(Some((key(id), id)));
        }
        tournament.rekey(key);
        check(&tournament, &seats);
    }
}
