//! Data that only the thread that owns an executor may reach.

use crate::sync::ThreadId;

/// A value that can be shared with other threads but reached from its owner's thread only.
pub(crate) struct OwnerCell<T> {
    owner: ThreadId,
    value: T,
}

// SAFETY: `get` hands out the value on the owner's thread only, so `T` is never used from two threads. It may be
// dropped on another one, which `T: Send` allows.
unsafe impl<T: Send> Sync for OwnerCell<T> {}

impl<T> OwnerCell<T> {
    /// Makes the calling thread the owner.
    pub(crate) fn new(value: T) -> Self {
        Self { owner: ThreadId::current(), value }
    }

    /// The value, if this is the owner's thread.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.owner.is_current().then_some(&self.value)
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// This is the owner's thread.
    #[inline(always)]
    pub(super) unsafe fn get_unchecked(&self) -> &T {
        debug_assert!(self.owner.is_current(), "on the owner's thread alone");
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_number_of_its_own_and_keeps_it() {
        let here = ThreadId::current();
        assert_eq!(ThreadId::current(), here);
        let elsewhere = || std::thread::spawn(|| [ThreadId::current(), ThreadId::current()]).join().unwrap();
        let [[a, again], [b, _]] = [elsewhere(), elsewhere()];
        assert_eq!(a, again);
        assert!(a != here && b != here && a != b);
    }

    #[test]
    fn only_its_owner_reaches_it() {
        let cell = OwnerCell::new(1);
        assert_eq!(cell.get(), Some(&1));
        let elsewhere = || {
            assert_eq!(cell.get(), None);
        };
        std::thread::scope(|scope| scope.spawn(elsewhere).join().unwrap());
    }
}
