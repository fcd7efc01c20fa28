//! What groups owed that have closed, by key.

use std::collections::BTreeMap;

use crate::Share;

/// So many debts are kept before any is looked at again.
const FEW: usize = 64;

/// How far ahead of virtual time closed groups were, by the user's key, until virtual time has passed them.
///
/// O(log n) to put and to take, and once in a while O(n) to forget what was passed: as often as their number has doubled, so
/// O(1) each.
#[derive(Clone, Debug)]
pub(super) struct Debts {
    by_key: BTreeMap<u64, Debt>,
    /// At so many, those that are passed are forgotten.
    forget_at: usize,
}

/// A closed group's virtual runtime, and the weight that it was counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Debt {
    pub(super) v: u128,
    pub(super) weight: Share,
}

impl Debts {
    pub(super) const fn new() -> Self {
        Self { by_key: BTreeMap::new(), forget_at: FEW }
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Remembers what a group owes at `virtual_time`, and forgets what is passed if it is time.
    pub(super) fn put(&mut self, key: u64, debt: Debt, virtual_time: u128) {
        if self.by_key.len() >= self.forget_at {
            self.by_key.retain(|_, debt| debt.v > virtual_time);
            self.forget_at = FEW.max(2 * self.by_key.len());
        }
        self.by_key.insert(key, debt);
    }

    /// Takes out what the group of this key owed.
    pub(super) fn take(&mut self, key: u64) -> Option<Debt> {
        self.by_key.remove(&key)
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        if !self.by_key.is_empty() {
            *self = Self::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn debt(v: u128) -> Debt {
        Debt { v, weight: Share::MIN }
    }

    #[test]
    fn are_kept_until_they_are_passed() {
        let mut debts = Debts::new();
        for key in 0..1_000_000_u64 {
            let now = u128::from(key);
            debts.put(key, debt(now + 100), now);
            // The even ones come back, the others never do.
            if key >= 50 && key % 2 == 0 {
                assert_eq!(debts.take(key - 50), Some(debt(now + 50)));
            }
            assert!(debts.len() <= 3 * FEW, "{}", debts.len());
        }
        debts.clear();
        assert_eq!((debts.len(), debts.take(999_999)), (0, None));
    }

    #[test]
    fn as_many_as_are_owed_are_kept() {
        let mut debts = Debts::new();
        (0..10_000).for_each(|key| debts.put(key, debt(1), 0));
        assert!((0..10_000).all(|key| debts.take(key) == Some(debt(1))));
    }
}
