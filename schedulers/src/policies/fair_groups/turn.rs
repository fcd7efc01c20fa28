//! The turn under way.

/// Says that no group has the turn.
const NONE: u32 = u32::MAX;

/// What one group receives before the next is chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The group that has it, or `NONE`.
    group: u32,
    /// Its virtual runtime when the turn began.
    start: u128,
    /// Service that it has received in the turn and was not charged for yet.
    spent_ns: u64,
    /// At so much the turn is over.
    limit_ns: u64,
}

impl Turn {
    /// No group has it.
    pub(super) const OPEN: Self = Self { group: NONE, start: 0, spent_ns: 0, limit_ns: 0 };

    pub(super) fn new(group: u32, start: u128, limit_ns: u64) -> Self {
        Self { group, start, spent_ns: 0, limit_ns }
    }

    #[inline]
    pub(super) fn is_of(&self, group: u32) -> bool {
        self.group == group
    }

    /// The group that has it, if there is one.
    #[inline]
    pub(super) fn group(&self) -> Option<u32> {
        (self.group != NONE).then_some(self.group)
    }

    /// The group that may go on without being compared with others. (Whether it has tasks is not said.)
    #[inline]
    pub(super) fn going_on(&self) -> Option<u32> {
        (self.spent_ns < self.limit_ns).then_some(self.group)
    }

    /// Where virtual time is while a group has the turn.
    #[inline]
    pub(super) fn virtual_time(&self) -> u128 {
        if self.group == NONE { 0 } else { self.start }
    }

    /// What it has spent.
    #[inline]
    pub(super) fn spent_ns(&self) -> u64 {
        self.spent_ns
    }

    #[inline]
    pub(super) fn spend(&mut self, service_ns: u64) {
        self.spent_ns = self.spent_ns.saturating_add(service_ns);
    }

    /// Has no group have it, after its end.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.group = NONE;
    }

    /// Ends it. What it has spent, which its group is to be charged for.
    #[inline]
    pub(super) fn end(&mut self) -> u64 {
        self.limit_ns = 0;
        core::mem::take(&mut self.spent_ns)
    }
}
