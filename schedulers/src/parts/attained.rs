//! The service that groups have attained.

use crate::GroupId;

/// The service that one group has attained over all its tasks, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attained(u64);

impl Attained {
    #[inline]
    pub(crate) const fn ns(self) -> u64 {
        self.0
    }

    /// Adds the service of a poll, up to 2⁶⁴ − 1 ns.
    #[inline]
    pub(crate) fn add(&mut self, service_ns: u64) {
        self.0 = self.0.saturating_add(service_ns);
    }
}

/// What each group has attained, by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttainedByGroup(Vec<Attained>);

impl AttainedByGroup {
    /// Of groups that have attained nothing.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    pub(crate) fn of(&self, group: GroupId) -> Attained {
        self.0.get(group.index()).copied().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, group: GroupId) -> &mut Attained {
        let index = group.index();
        if index >= self.0.len() {
            self.0.resize(index + 1, Attained::default());
        }
        &mut self.0[index]
    }

    /// Forgets a group that closed. What it had attained.
    pub(crate) fn take(&mut self, group: GroupId) -> Attained {
        self.0.get_mut(group.index()).map(core::mem::take).unwrap_or_default()
    }
}
