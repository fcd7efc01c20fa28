//! A set of dense ids that can be gone round.

/// A set of small integers: a bit each, and above them a bit for each word of 64 that is not zero.
///
/// With a million ids, almost all absent, the next one is found within 250 words.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    words: Vec<u64>,
    /// Bit *w* is set if and only if `words[w]` is not zero.
    summary: Vec<u64>,
}

impl Bitmap {
    /// An empty one.
    pub(super) const fn new() -> Self {
        Self { words: Vec::new(), summary: Vec::new() }
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32) {
        let word = index as usize / 64;
        if word >= self.words.len() {
            self.grow(word);
        }
        self.words[word] |= 1 << (index % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, word: usize) {
        self.words.resize(word + 1, 0);
        self.summary.resize(word / 64 + 1, 0);
    }

    #[inline]
    pub(super) fn clear(&mut self, index: u32) {
        let word = index as usize / 64;
        if word >= self.words.len() {
            return;
        }
        self.words[word] &= !(1 << (index % 64));
        if self.words[word] == 0 {
            self.summary[word / 64] &= !(1 << (word % 64));
        }
    }

    /// The least member above `index`, or else the least of all.
    pub(super) fn next_after(&self, index: u32) -> Option<u32> {
        self.at_or_above(u64::from(index) + 1).or_else(|| self.at_or_above(0))
    }

    /// The least member from `index` on.
    #[inline]
    fn at_or_above(&self, index: u64) -> Option<u32> {
        let word = usize::try_from(index / 64).ok()?;
        let bits = self.words.get(word)? & (!0 << (index % 64));
        if bits != 0 {
            return Some(word as u32 * 64 + bits.trailing_zeros());
        }
        let word = next_bit(&self.summary, word + 1)?;
        Some(word as u32 * 64 + self.words[word].trailing_zeros())
    }
}

/// The least bit at or above `from` that is set in `words`.
fn next_bit(words: &[u64], from: usize) -> Option<usize> {
    let first = from / 64;
    let bits = words.get(first)? & (!0 << (from % 64));
    if bits != 0 {
        return Some(first * 64 + bits.trailing_zeros() as usize);
    }
    let (at, bits) = words.iter().enumerate().skip(first + 1).find(|(_, bits)| **bits != 0)?;
    Some(at * 64 + bits.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_round() {
        let mut bits = Bitmap::new();
        assert_eq!(bits.next_after(7), None);
        let members = [0, 63, 64, 200, 4_095, 4_096, 70_000];
        members.iter().for_each(|&index| bits.set(index));
        let mut at = 0;
        for expected in members.iter().skip(1).chain(&members[..2]) {
            at = bits.next_after(at).unwrap();
            assert_eq!(at, *expected);
        }
        assert_eq!(bits.next_after(u32::MAX), Some(0));
    }

    #[test]
    fn forgets_what_is_cleared() {
        let mut bits = Bitmap::new();
        [0, 63, 9_000].iter().for_each(|&index| bits.set(index));
        [0, 9_000, 9_001, 1_000_000].iter().for_each(|&index| bits.clear(index));
        assert_eq!(bits.next_after(0), Some(63));
        assert_eq!(bits.next_after(63), Some(63), "the only one comes round to itself");
        bits.clear(63);
        assert_eq!(bits.next_after(0), None);
    }
}
