//! Groups that work on and on: beyond a part of the half-life they go by attained service itself, and not by its power of two.

use super::half_life::HalfLife;
use super::levels::Levels;

/// The ring of the elders whose round has not come to an end.
pub(crate) const FRONT: u32 = 62;

/// The ring of those whose round has.
pub(crate) const BACK: u32 = 63;

/// Groups are elders from so many parts of a half-life on.
const ELDEST_PARTS: u64 = 16;

/// A round is as long as so many parts of a half-life.
const ROUND_PARTS: u64 = 128;

/// Which groups are elders, and where the round of those ends that have work.
///
/// A level of attained service ends at twice its beginning. That is as much as a half-life forgets: two groups that always have work
/// could be in the same one all the time, and whichever came first would be ahead by as much with each half-life. So elders take turns:
/// a round takes all of them to the attained service of the least served and a bit more.
#[derive(Clone, Debug)]
pub(crate) struct Elders {
    /// The least level of an elder. 64 for none.
    first_level: u32,
    /// The length of a round, in nanoseconds of attained service.
    round_ns: u64,
    /// Those that have attained more have to wait for the next round.
    round_end_ns: u64,
    /// No elder that waits for the next round has attained less.
    least_ns: u64,
}

impl Elders {
    /// Those of groups in such levels, with such a half-life.
    pub(crate) const fn new(levels: Levels, half_life: &HalfLife) -> Self {
        let Some(half_life_ns) = half_life.ns() else {
            return Self { first_level: 64, round_ns: 0, round_end_ns: 0, least_ns: 0 };
        };
        let first_level = match levels.of(half_life_ns / ELDEST_PARTS) {
            0 => 1,
            level if level > FRONT => FRONT,
            level => level,
        };
        Self { first_level, round_ns: half_life_ns / ROUND_PARTS, round_end_ns: 0, least_ns: u64::MAX }
    }

    /// Whether any group can be one.
    #[inline]
    pub(crate) const fn exist(&self) -> bool {
        self.first_level < 64
    }

    /// The least level of an elder. 64 for none.
    #[inline]
    pub(crate) const fn first_level(&self) -> u32 {
        self.first_level
    }

    /// The ring of a task whose group is in a level and has attained `ns`.
    #[inline]
    pub(crate) fn ring(&self, level: u32, ns: u64) -> u32 {
        if level < self.first_level { level } else { self.ring_of_elder(level, ns) }
    }

    #[cold]
    #[inline(never)]
    fn ring_of_elder(&self, level: u32, ns: u64) -> u32 {
        match self.first_level {
            64 => level,
            _ if ns <= self.round_end_ns => FRONT,
            _ => BACK,
        }
    }

    /// The ring of a task that comes: an elder who has attained much less than the others ends their round.
    #[inline]
    pub(crate) fn ring_of_comer(&mut self, level: u32, ns: u64) -> u32 {
        if level < self.first_level { level } else { self.elder_comes(level, ns) }
    }

    #[cold]
    #[inline(never)]
    fn elder_comes(&mut self, level: u32, ns: u64) -> u32 {
        self.round_end_ns = self.round_end_ns.min(ns.saturating_add(self.round_ns));
        let ring = self.ring_of_elder(level, ns);
        if ring == BACK {
            self.least_ns = self.least_ns.min(ns);
        }
        ring
    }

    /// Begins the next round, of those that wait for it.
    #[cold]
    pub(crate) fn begin_round(&mut self) {
        self.round_end_ns = self.least_ns.saturating_add(self.round_ns);
        self.least_ns = u64::MAX;
    }

    /// A half-life has ended.
    pub(crate) fn halve(&mut self) {
        self.round_end_ns /= 2;
        self.least_ns = if self.least_ns == u64::MAX { u64::MAX } else { self.least_ns / 2 };
    }
}
