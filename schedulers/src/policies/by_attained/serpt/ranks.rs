//! The order of the levels, and which of them count as equal.

use super::sizes::LEVELS;

/// The levels' ranks: never less for a higher level, and the same for neighbours that are expected to need about as much.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// By level: the most that is expected to remain at it or below, in nanoseconds.
    expected_ns: [u64; LEVELS],
    /// By level: the levels of its rank, one bit each. They are neighbours.
    equals: [u64; LEVELS],
}

impl Ranks {
    /// From what remains at each level, of which the first `known` may be held equal to others.
    pub(super) fn new(remaining_ns: &[u64; LEVELS], known: usize) -> Self {
        let mut expected_ns = *remaining_ns;
        let mut firsts = [0; LEVELS];
        for level in 1..LEVELS {
            let first: usize = firsts[level - 1];
            expected_ns[level] = expected_ns[level].max(expected_ns[level - 1]);
            let joins = level < known && is_about(expected_ns[first], expected_ns[level]);
            firsts[level] = if joins { first } else { level };
        }
        Self { expected_ns, equals: sets_of(&firsts) }
    }

    /// The most that is expected to remain at this level or below.
    pub(super) fn expected_ns(&self, level: u32) -> u64 {
        self.expected_ns[level as usize]
    }

    /// The lowest level of the same rank.
    #[inline]
    pub(super) fn first(&self, level: u32) -> u32 {
        self.equals[level as usize].trailing_zeros()
    }

    /// The highest level of the same rank.
    pub(super) fn last(&self, level: u32) -> u32 {
        self.equals[level as usize].ilog2()
    }

    /// Whether no other level is of the same rank.
    pub(super) fn stands_alone(&self, level: u32) -> bool {
        self.equals[level as usize].is_power_of_two()
    }

    /// Whether the same levels are of equal rank.
    pub(super) fn are_equal_as(&self, other: &Self) -> bool {
        self.equals == other.equals
    }
}

/// Whether `more` exceeds `ns` by a quarter at most.
fn is_about(ns: u64, more: u64) -> bool {
    more - ns <= ns / 4
}

/// Each level's set, from the first level of each.
fn sets_of(firsts: &[usize; LEVELS]) -> [u64; LEVELS] {
    let mut sets = [0; LEVELS];
    for (level, &first) in firsts.iter().enumerate() {
        sets[first] |= 1 << level;
    }
    firsts.map(|first| sets[first])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(remaining_ns: &[u64], known: usize) -> Ranks {
        let mut all = [u64::MAX; LEVELS];
        all[..remaining_ns.len()].copy_from_slice(remaining_ns);
        Ranks::new(&all, known)
    }

    fn firsts(remaining_ns: &[u64], known: usize) -> Vec<u32> {
        let ranks = ranks(remaining_ns, known);
        (0..remaining_ns.len() as u32).map(|level| ranks.first(level)).collect()
    }

    #[test]
    fn a_level_never_ranks_before_a_lower_one() {
        assert_eq!(firsts(&[10, 90, 70, 20, 1, 300], 6), [0, 1, 1, 1, 1, 5]);
        assert_eq!(ranks(&[10, 90, 70], 3).expected_ns(2), 90);
    }

    #[test]
    fn a_quarter_more_is_the_same_and_does_not_add_up() {
        assert_eq!(firsts(&[100, 125, 126, 157, 158], 5), [0, 0, 2, 2, 4]);
    }

    #[test]
    fn levels_that_are_not_known_stand_alone() {
        assert_eq!(firsts(&[100, 90, 80, 70], 2), [0, 0, 2, 3]);
        assert_eq!(firsts(&[100, 90, 80, 70], 0), [0, 1, 2, 3]);
    }

    #[test]
    fn all_levels_may_be_equal() {
        let ranks = ranks(&[u64::MAX; LEVELS], LEVELS);
        assert_eq!((ranks.first(63), ranks.last(0), ranks.stands_alone(0)), (0, 63, false));
    }
}
