//! The service that groups have attained, of which half is forgotten with each half-life.

/// The service that one group has attained over all its tasks, in nanoseconds, as of so many halvings.
///
/// Nothing is done to a group when its queue's service comes to the end of a half-life: what it has is halved when it is looked
/// at. Twelve bytes, which leave room for a group's list in half a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(super) struct Attained {
    ns: u64,
    /// How many halvings of the queue it has been through.
    halvings: u32,
}

impl Attained {
    /// So much, as of so many halvings.
    pub(super) const fn new(ns: u64, halvings: u32) -> Self {
        Self { ns, halvings }
    }

    /// What is left of it after so many halvings.
    #[inline]
    pub(super) fn ns(self, halvings: u32) -> u64 {
        let since = halvings.wrapping_sub(self.halvings);
        if since == 0 { self.ns } else { self.ns.checked_shr(since).unwrap_or(0) }
    }

    /// The same of a group that was served since the last halving.
    #[inline]
    pub(super) const fn ns_if_current(self) -> u64 {
        self.ns
    }

    /// How many halvings it has been through.
    #[inline]
    pub(super) const fn halvings(self) -> u32 {
        self.halvings
    }

    /// Adds the service of a poll, up to 2⁶⁴ − 1 ns, after so many halvings. What it was before, and what it is.
    #[inline]
    pub(super) fn add(&mut self, service_ns: u64, halvings: u32) -> (u64, u64) {
        if self.halvings != halvings {
            self.catch_up(halvings);
        }
        let before = self.ns;
        self.ns = before.saturating_add(service_ns);
        (before, self.ns)
    }

    /// Goes through the halvings that it has not been through.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&mut self, halvings: u32) {
        *self = Self::new(self.ns(halvings), halvings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_halving_halves_it_whenever_it_is_looked_at() {
        let mut attained = Attained::new(1_001, 7);
        let left: Vec<u64> = [7, 8, 9, 16, 17, 71, 1_000].map(|halvings| attained.ns(halvings)).to_vec();
        assert_eq!(left, [1_001, 500, 250, 1, 0, 0, 0]);
        attained.add(10, 9);
        assert_eq!(attained, Attained::new(260, 9));
        attained.add(u64::MAX, 9);
        assert_eq!(attained.ns(9), u64::MAX);
    }
}
