//! What is known of the sizes of groups, level by level, and what follows from it for their order.

use super::ranks::Ranks;
use crate::policies::by_attained::half_life::HalfLife;
use crate::policies::by_attained::levels::Levels;

/// Levels, so that a set of them is a `u64`.
pub(super) const LEVELS: usize = 64;

/// The weight of one exit, when it is new. So large that halving loses nothing that matters.
const ONE: u64 = 1 << 16;

/// So many groups must have ended in a level or above it before the level may count as equal to one below.
///
/// The mean of eight observations of like size is right to within a third, most of the time.
const FEWEST_ENDS: u64 = 8;

/// The shortest memory, in exits: when it is halved, the fewest ends are left.
const SHORTEST_MEMORY: u32 = 2 * FEWEST_ENDS as u32;

/// Exits of a level that are remembered, unless told otherwise.
const DEFAULT_MEMORY: u32 = 1_024;

/// Exits between two looks at the ranks. A look takes about a microsecond: this spreads it to some ten nanoseconds each.
const EXITS_PER_LOOK: u32 = 64;

/// A life table: for each level, how many of the groups that were in it ended there, and how many went on to the next.
///
/// Both are *exits*. A group that has not ended has an exit in each level that it has left behind and none in the one
/// that it is in, so what is unfinished counts for what it has shown, and no more.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    exits: [Exits; LEVELS],
    levels: Levels,
    /// When a level's exits weigh this much, they are halved.
    memory: u64,
    /// Exits until the next look at the ranks.
    until_look: u32,
}

/// How groups left one level.
#[derive(Clone, Copy, Debug, Default)]
struct Exits {
    /// The weight of those that went on.
    passed: u64,
    /// The weight of those that ended.
    ended: u64,
    /// Nanoseconds of service that these received in this level, times their weight.
    ended_ns: u128,
}

impl Exits {
    fn weight(&self) -> u64 {
        self.passed + self.ended
    }

    fn halve(&mut self) {
        self.passed /= 2;
        self.ended /= 2;
        self.ended_ns /= 2;
    }

    /// The service that a group which enters this level of `width_ns` is to receive yet, if it is `beyond_ns` from the
    /// end of the level on. `None` if nobody left it.
    fn remaining_ns(&self, width_ns: u128, beyond_ns: u64) -> Option<u64> {
        // No overflow: weights are below 2⁴⁹, widths at most 2⁶³.
        let passed_ns = u128::from(self.passed) * (width_ns + u128::from(beyond_ns));
        let mean_ns = (passed_ns + self.ended_ns).checked_div(u128::from(self.weight()))?;
        Some(saturated(mean_ns))
    }
}

fn saturated(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}

impl Sizes {
    /// Knows nothing.
    pub(super) fn new() -> Self {
        Self {
            exits: [Exits::default(); LEVELS],
            levels: Levels::DEFAULT,
            memory: u64::from(DEFAULT_MEMORY) * ONE,
            until_look: EXITS_PER_LOOK,
        }
    }

    /// Knows nothing, of these levels.
    pub(super) fn with_levels(&self, levels: Levels) -> Self {
        Self { levels, memory: self.memory, ..Self::new() }
    }

    /// The same, of levels that are told apart finely by that half-life.
    pub(super) fn set_half_life(&mut self, half_life: &HalfLife) {
        self.levels = self.levels.for_half_life(half_life);
    }

    /// Knows nothing, and remembers at most so many exits of each level, and at least half as many.
    pub(super) fn with_memory(&self, exits: u32) -> Self {
        let memory = u64::from(exits.max(SHORTEST_MEMORY)) * ONE;
        Self { levels: self.levels, memory, ..Self::new() }
    }

    /// The levels.
    #[inline]
    pub(super) const fn levels(&self) -> Levels {
        self.levels
    }

    /// A group has come from level `from` to the higher level `to`.
    pub(super) fn passed(&mut self, from: u32, to: u32) {
        for level in from..to {
            self.exit(level).passed += ONE;
        }
    }

    /// A group has ended that had attained `ns`.
    pub(super) fn ended(&mut self, ns: u64) {
        let level = self.levels.of(ns);
        let inside_ns = u128::from(ns) - self.levels.start_ns(level);
        let exits = self.exit(level);
        exits.ended += ONE;
        exits.ended_ns += u128::from(ONE) * inside_ns;
    }

    /// Makes room for one more exit of a level.
    fn exit(&mut self, level: u32) -> &mut Exits {
        self.until_look = self.until_look.saturating_sub(1);
        let exits = &mut self.exits[level as usize];
        if exits.weight() >= self.memory {
            exits.halve();
        }
        exits
    }

    /// Whether enough has happened since the last time to look at the ranks again.
    #[inline]
    pub(super) fn takes_a_look(&mut self) -> bool {
        let due = self.until_look == 0;
        if due {
            self.until_look = EXITS_PER_LOOK;
        }
        due
    }

    /// What a group is to receive yet when it comes to each level: the mean of those that left it, level by level.
    ///
    /// Where nobody left a level, it is taken to be as much again as was attained.
    fn remaining_ns(&self) -> [u64; LEVELS] {
        let mut remaining_ns = [0; LEVELS];
        let mut beyond_ns = u64::MAX;
        for level in (0..LEVELS as u32).rev() {
            let start_ns = self.levels.start_ns(level);
            let width_ns = self.levels.start_ns(level + 1) - start_ns;
            let mean_ns = self.exits[level as usize].remaining_ns(width_ns, beyond_ns);
            beyond_ns = mean_ns.unwrap_or(saturated(start_ns));
            remaining_ns[level as usize] = beyond_ns;
        }
        remaining_ns
    }

    /// How many of the levels, from 0 on, enough is known of to rank them.
    fn known_levels(&self) -> usize {
        let mut ends = 0;
        let enough = self.exits.iter().rposition(|exits| {
            ends += exits.ended;
            ends >= FEWEST_ENDS * ONE
        });
        enough.map_or(0, |level| level + 1)
    }

    /// The order of the levels that follows. Those that are told apart finely are told apart, whatever is known of them.
    pub(super) fn ranks(&self) -> Ranks {
        Ranks::new(&self.remaining_ns(), self.known_levels().min(self.levels.finely_from() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sized(base_ns: u64) -> Sizes {
        Sizes::new().with_levels(Levels::with_base_ns(base_ns))
    }

    /// Levels that begin at 0, 16, 32, 64 ns and so on.
    fn taught(memory: u32, sizes: impl IntoIterator<Item = u64>) -> Sizes {
        let mut taught = sized(16).with_memory(memory);
        sizes.into_iter().for_each(|size| teach(&mut taught, size));
        taught
    }

    fn teach(sizes: &mut Sizes, size: u64) {
        sizes.passed(0, sizes.levels.of(size));
        sizes.ended(size);
    }

    #[test]
    fn with_no_exits_as_much_again_is_expected() {
        let sizes = sized(16);
        assert_eq!(sizes.remaining_ns()[..4], [0, 16, 32, 64]);
        assert_eq!(sizes.known_levels(), 0);
    }

    #[test]
    fn what_remains_is_the_mean_of_those_that_came_so_far() {
        let sizes = taught(1_024, [10, 10, 10, 100]);
        // Of level 0, (10 + 10 + 10 + 100) / 4, rounded down; one came to the others. Nobody left level 4.
        assert_eq!(sizes.remaining_ns()[..5], [32, 84, 68, 36, 128]);
    }

    proptest! {
        /// The life table loses nothing while nothing is forgotten: only rounding, down by less than 1 ns a level.
        #[test]
        fn the_life_table_is_the_mean_residual_life(lives in prop::collection::vec(0_u64..100_000, 1..200)) {
            let sizes = taught(1_024, lives.iter().copied());
            for (level, &remaining) in sizes.remaining_ns().iter().enumerate().take(14) {
                let start = sizes.levels.start_ns(level as u32) as u64;
                let left: Vec<u64> = lives.iter().filter(|&&life| life >= start).map(|life| life - start).collect();
                let Some(mean) = left.iter().sum::<u64>().checked_div(left.len() as u64) else { continue };
                prop_assert!(remaining <= mean && mean - remaining <= 14, "level {level}: {remaining}, not {mean}");
            }
        }

        #[test]
        fn nothing_overflows(lives in prop::collection::vec(any::<u64>(), 0..300), bits in 1_u32..64, memory: u32) {
            let mut sizes = sized(1 << bits).with_memory(memory);
            lives.iter().for_each(|&life| teach(&mut sizes, life));
            // As full as a level can be.
            sizes.exits.iter_mut().for_each(|exits| {
                let full = u64::from(u32::MAX) * ONE;
                *exits = Exits { passed: full, ended: full, ended_ns: u128::from(full) << 63 };
            });
            sizes.ranks();
        }
    }

    #[test]
    fn those_that_have_not_ended_count_for_what_they_have_passed() {
        let mut sizes = taught(1_024, [8; 9]);
        // One is on its way, in level 3. Beyond, as much again is expected.
        sizes.passed(0, 3);
        assert_eq!(sizes.remaining_ns()[..4], [(9 * 8 + 16 + 112) / 10, 16 + 96, 32 + 64, 64]);
    }

    #[test]
    fn ends_make_levels_known() {
        let mut sizes = taught(1_024, [100; 7]);
        sizes.passed(0, 20);
        assert_eq!(sizes.known_levels(), 0);
        teach(&mut sizes, 40);
        assert_eq!(sizes.known_levels(), 3, "eight ended in levels 2 and 3");
        teach(&mut sizes, 100);
        assert_eq!(sizes.known_levels(), 4);
    }

    /// What is stated: with a memory of M, each M / 2 exits of a level halve the weight of all that was before.
    #[test]
    fn half_a_memory_of_exits_halves_what_was_before() {
        for before in [64, 100, 127, 128, 129, 1_000] {
            let mut sizes = taught(128, []);
            (0..before).for_each(|_| sizes.passed(0, 1));
            for halvings in 1..6_u32 {
                (0..64).for_each(|_| sizes.ended(8));
                let Exits { passed, ended, .. } = sizes.exits[0];
                // Fewer halvings where the memory was not yet full at the change, and at most a unit lost each time.
                let parts = (passed + ended) >> halvings;
                assert!(passed <= parts, "{before}, {halvings}: {passed} of {}", passed + ended);
                assert!(before < 128 || passed + 8 >= parts, "{before}, {halvings}: not before time");
            }
        }
    }

    #[test]
    fn a_look_is_taken_every_64_exits() {
        let mut sizes = sized(16);
        let looks: Vec<u32> = (1..200)
            .filter(|_| {
                sizes.ended(1);
                sizes.takes_a_look()
            })
            .collect();
        assert_eq!(looks, [64, 128, 192]);
    }
}
