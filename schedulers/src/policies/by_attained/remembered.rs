//! What groups had attained that have closed, by their users' keys.

use std::collections::BTreeMap;
use std::mem;

use super::attained::Attained;
use super::half_life::HalfLife;
use crate::GroupId;

/// So many groups close before those that closed before them may be forgotten.
const GENERATION: usize = 4_096;

/// What is less than this part of a half-life is forgotten when others have closed since. What is more is kept: no more than
/// 2,048 groups have that at a time, and one for each poll of that length.
const PARTS: u64 = 1_024;

/// The open groups' keys, and what closed groups had.
///
/// Where there is no half-life nothing would ever be forgotten, so nothing is remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    /// By index of the group.
    open: BTreeMap<u32, Open>,
    /// By key: those that closed last, fewer than a generation, and those before them.
    young: BTreeMap<u64, Attained>,
    old: BTreeMap<u64, Attained>,
}

/// A group that was opened under a key.
#[derive(Clone, Copy, Debug)]
struct Open {
    key: u64,
    /// What was remembered of it.
    had: Attained,
}

impl Remembered {
    /// Of no group.
    pub(super) const fn new() -> Self {
        Self { open: BTreeMap::new(), young: BTreeMap::new(), old: BTreeMap::new() }
    }

    /// A group was opened under `key`. What it had attained when it last closed, as of now.
    pub(super) fn opened(&mut self, group: GroupId, key: u64, half_life: &HalfLife) -> Attained {
        let remembered = self.young.remove(&key).or(self.old.remove(&key)).unwrap_or_default();
        let halvings = half_life.halvings();
        let had = Attained::new(remembered.ns(halvings), halvings);
        if half_life.ns().is_some() {
            self.open.insert(group.index() as u32, Open { key, had });
        }
        had
    }

    /// A group closed that has attained so much. Whether it was served since it was opened.
    pub(super) fn closed(&mut self, group: GroupId, attained: Attained, half_life: &HalfLife) -> bool {
        let (index, halvings) = (group.index() as u32, half_life.halvings());
        let ns = attained.ns(halvings);
        // Most that close never were opened: they are tasks without a group.
        if self.open.is_empty() {
            return ns > 0;
        }
        let Some(Open { key, had }) = self.open.remove(&index) else { return ns > 0 };
        if ns > 0 {
            self.remember(key, Attained::new(ns, halvings), half_life);
        }
        ns > had.ns(halvings)
    }

    fn remember(&mut self, key: u64, attained: Attained, half_life: &HalfLife) {
        self.young.insert(key, attained);
        if self.young.len() < GENERATION {
            return;
        }
        let (least_ns, halvings) = (half_life.ns().unwrap_or(0) / PARTS, half_life.halvings());
        let mut old = mem::replace(&mut self.old, mem::take(&mut self.young));
        old.retain(|_, attained| attained.ns(halvings) > least_ns);
        self.old.append(&mut old);
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.open.len() + self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(remembered: &mut Remembered, key: u64, ns: u64, half_life: &HalfLife) {
        let group = GroupId::new(7);
        remembered.opened(group, key, half_life);
        remembered.closed(group, Attained::new(ns, half_life.halvings()), half_life);
    }

    #[test]
    fn what_a_group_had_comes_back_with_its_key_and_decays_meanwhile() {
        let (mut remembered, mut half_life) = (Remembered::new(), HalfLife::of_ns(1 << 30));
        close(&mut remembered, 5, 4_000, &half_life);
        half_life.passes(1 << 30);
        assert_eq!(remembered.opened(GroupId::new(1), 6, &half_life).ns(1), 0);
        assert_eq!(remembered.opened(GroupId::new(2), 5, &half_life).ns(1), 2_000);
        half_life.passes(1 << 30);
        assert!(!remembered.closed(GroupId::new(2), Attained::new(2_000, 1), &half_life), "nothing since");
        assert_eq!(remembered.opened(GroupId::new(3), 5, &half_life).ns(2), 1_000);
        assert!(remembered.closed(GroupId::new(3), Attained::new(1_001, 2), &half_life));
        assert!(!remembered.closed(GroupId::new(3), Attained::new(0, 2), &half_life), "it never opened");
    }

    #[test]
    fn a_million_short_lived_groups_are_forgotten_and_one_that_had_much_is_not() {
        let (mut remembered, half_life) = (Remembered::new(), HalfLife::of_ns(1 << 30));
        close(&mut remembered, 0, 1 << 29, &half_life);
        let mut most = 0;
        for key in 1..1_000_000 {
            close(&mut remembered, key, 1_000, &half_life);
            most = most.max(remembered.len());
        }
        assert!(most <= 2 * GENERATION + 1, "{most}");
        assert_eq!(remembered.opened(GroupId::new(1), 0, &half_life).ns(0), 1 << 29);
        assert_eq!(remembered.opened(GroupId::new(2), 999_999, &half_life).ns(0), 1_000);
        assert_eq!(remembered.opened(GroupId::new(3), 1, &half_life).ns(0), 0);
    }

    #[test]
    fn where_nothing_decays_nothing_is_remembered() {
        let mut remembered = Remembered::new();
        close(&mut remembered, 5, 4_000, &HalfLife::NEVER);
        assert_eq!(remembered.len(), 0);
        assert_eq!(remembered.opened(GroupId::new(1), 5, &HalfLife::NEVER).ns(0), 0);
    }
}
