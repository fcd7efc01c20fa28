//! What groups have attained, and what follows for policies that order them by levels of it.

use super::attained::AttainedByGroup;
use super::elders::Elders;
use super::fair_turns::FairTurns;
use super::half_life::HalfLife;
use super::levels::Levels;
use super::occasions::{Due, Occasions};
use super::remembered::Remembered;
use crate::GroupId;

/// What each group has attained, which half-lives take from it, and the ring that its tasks belong into by that.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    levels: Levels,
    elders: Elders,
    attained: AttainedByGroup,
    remembered: Remembered,
    occasions: Occasions,
}

impl Ledger {
    /// Of no groups, with the default levels, half-life and fair turns.
    pub(crate) const fn new() -> Self {
        Self {
            levels: Levels::DEFAULT,
            elders: Elders::new(Levels::DEFAULT, &HalfLife::DEFAULT),
            attained: AttainedByGroup::new(),
            remembered: Remembered::new(),
            occasions: Occasions::new(FairTurns::DEFAULT, HalfLife::DEFAULT),
        }
    }

    pub(crate) fn with_levels(self, levels: Levels) -> Self {
        let elders = Elders::new(levels, self.occasions.half_life());
        Self { levels, elders, ..self }
    }

    pub(crate) fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { occasions: self.occasions.with_fair_turns(fair_turns), ..self }
    }

    pub(crate) fn with_half_life(self, half_life: HalfLife) -> Self {
        let elders = Elders::new(self.levels, &half_life);
        Self { elders, occasions: self.occasions.with_half_life(half_life), ..self }
    }

    pub(crate) const fn levels(&self) -> Levels {
        self.levels
    }

    pub(crate) const fn fair_turns(&self) -> &FairTurns {
        self.occasions.fair_turns()
    }

    /// The half-life; `None` for never.
    pub(crate) const fn half_life_ns(&self) -> Option<u64> {
        self.occasions.half_life().ns()
    }

    /// What a group has attained, as of now.
    #[inline]
    pub(crate) fn attained_ns(&self, group: GroupId) -> u64 {
        self.attained.of(group).ns(self.occasions.halvings())
    }

    /// The level of a group.
    #[inline]
    pub(crate) fn level(&self, group: GroupId) -> u32 {
        self.levels.of(self.attained_ns(group))
    }

    /// The level of a group that was served since the last halving.
    #[inline]
    pub(crate) fn level_if_current(&self, group: GroupId) -> u32 {
        self.levels.of(self.attained.of(group).ns_if_current())
    }

    /// The ring that a group's tasks belong into: that of its level, or one of the elders'.
    #[inline]
    pub(crate) fn ring(&self, group: GroupId) -> u32 {
        let ns = self.attained_ns(group);
        self.elders.ring(self.levels.of(ns), ns)
    }

    /// The same for a task that is about to be put into it.
    #[inline]
    pub(crate) fn ring_of_comer(&mut self, group: GroupId) -> u32 {
        let ns = self.attained_ns(group);
        self.elders.ring_of_comer(self.levels.of(ns), ns)
    }

    /// The first ring above those of levels that the end of a half-life brings down. 64 where none does.
    #[inline]
    pub(crate) const fn end_of_levels(&self) -> u32 {
        self.elders.first_level()
    }

    /// Whether there are elders' rings.
    #[inline]
    pub(crate) const fn has_elders(&self) -> bool {
        self.elders.exist()
    }

    /// The next round of the elders begins.
    pub(crate) fn begin_round(&mut self) {
        self.elders.begin_round();
    }

    /// Counts a pop, and says whether something is due.
    #[inline]
    pub(crate) fn are_due(&mut self) -> bool {
        self.occasions.are_due()
    }

    /// What is due at this pop, which has been counted. To be called from a place of its own.
    #[inline]
    pub(crate) fn settle(&mut self) -> Due {
        let due = self.occasions.settle();
        if due.halving {
            self.elders.halve();
        }
        due
    }

    /// Counts service. What the group had attained before, and what it has.
    #[inline]
    pub(crate) fn served(&mut self, group: GroupId, service_ns: u64) -> (u64, u64) {
        self.occasions.served(service_ns);
        self.attained.of_mut(group).add(service_ns, self.occasions.halvings())
    }

    /// A group was opened under the user's key.
    pub(crate) fn opened(&mut self, group: GroupId, key: u64) {
        *self.attained.of_mut(group) = self.remembered.opened(group, key, self.occasions.half_life());
    }

    /// A group closed. What it had attained, if it was served since it was opened.
    pub(crate) fn closed(&mut self, group: GroupId) -> Option<u64> {
        let attained = self.attained.take(group);
        let was_served = self.remembered.closed(group, attained, self.occasions.half_life());
        was_served.then(|| attained.ns(self.occasions.halvings()))
    }
}
