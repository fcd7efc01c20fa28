//! A counted reference to what an executor's tasks share.
//!
//! An `Arc` whose owner thread counts without atomics: it takes references from the shared count in blocks, as *credits*,
//! hands one to each task it makes and takes them back from the tasks it frees. Other threads count one by one. A spawn
//! and its end are thereby two atomic read-modify-writes cheaper.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use super::Shared;
use super::pool::Class;
use super::shared::Local;
use crate::sync::{AtomicUsize, fence, reclaim};

/// References taken from the shared count at once.
const BLOCK: usize = 1 << 10;

/// See the [module docs](self).
pub(crate) struct SharedRef(NonNull<Counted>);

struct Counted {
    /// References given out, credits included.
    count: AtomicUsize,
    shared: Shared,
}

/// References that the owner thread has in hand. They keep the count above zero as any reference does.
#[derive(Default)]
pub(crate) struct Credits {
    in_hand: Cell<usize>,
    /// True after the end of the executor: then the owner thread counts as any other.
    closed: Cell<bool>,
}

// SAFETY: as for `Arc<Shared>`: `Shared` is `Send + Sync`, which the function below checks, and the count is atomic.
unsafe impl Send for SharedRef {}
// SAFETY: as above.
unsafe impl Sync for SharedRef {}

const _: fn() = || {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Shared>();
};

impl SharedRef {
    pub(crate) fn new(shared: Shared) -> Self {
        Self(NonNull::from(Box::leak(Box::new(Counted { count: AtomicUsize::new(1), shared }))))
    }

    fn counted(&self) -> &Counted {
        // SAFETY: this reference is counted, so the allocation lives.
        unsafe { self.0.as_ref() }
    }

    /// Gives the owner thread's credits back. For the end of the executor.
    pub(crate) fn close_credits(&self) {
        if let Some(local) = self.local() {
            local.credits.closed.set(true);
            let left = local.credits.in_hand.take();
            self.give_back(left);
        }
    }

    /// Gives the memory of a cell back, and gives up the cell's reference, which this is.
    ///
    /// # Safety
    ///
    /// [`take_memory`](Shared::take_memory) gave it out for this class, and nothing uses it any more.
    #[inline]
    pub(super) unsafe fn give_up_with(self, class: Class, memory: NonNull<u8>) {
        let this = ManuallyDrop::new(self);
        let local = this.local();
        // SAFETY: the caller's promise.
        unsafe { Shared::give_memory_back(local, class, memory) };
        if !this.credit(local) {
            this.give_up();
        }
    }

    /// Makes this reference a credit of the owner thread's, whose part `local` is. False if this is another, or the credits are closed.
    #[inline]
    fn credit(&self, local: Option<&Local>) -> bool {
        let Some(local) = local.filter(|local| !local.credits.closed.get()) else { return false };
        let in_hand = local.credits.in_hand.get() + 1;
        local.credits.in_hand.set(in_hand);
        if in_hand > 2 * BLOCK {
            local.credits.in_hand.set(in_hand - BLOCK);
            self.give_back(BLOCK);
        }
        true
    }

    /// Gives up this reference, which is no credit. (It is given no reference to what it may free.)
    fn give_up(&self) {
        // Ordering: Release orders this holder's use before the freeing, the fence orders the freeing after every holder's
        // use.
        if self.counted().count.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: the last reference is gone, so nothing can reach the allocation, which `new` leaked from a box.
            reclaim(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }

    /// Gives up `n` references, not the last ones.
    fn give_back(&self, n: usize) {
        // Ordering: Relaxed, the owner's last reference is given up later, and by Release.
        let before = self.counted().count.fetch_sub(n, Ordering::Relaxed);
        debug_assert!(before > n, "the caller's own reference is left");
    }

    /// Takes `n` references.
    fn take(&self, n: usize) {
        // Ordering: Relaxed, the caller holds a reference already, as in `Arc`.
        let before = self.counted().count.fetch_add(n, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // As in `Arc`: there is no way to go on safely.
            std::process::abort();
        }
    }
}

impl Deref for SharedRef {
    type Target = Shared;

    #[inline]
    fn deref(&self) -> &Shared {
        &self.counted().shared
    }
}

impl Clone for SharedRef {
    #[inline]
    fn clone(&self) -> Self {
        self.clone_by(self.local())
    }
}

impl SharedRef {
    /// Takes one more reference, a credit of the owner thread's, if `local` is its part.
    #[inline]
    pub(super) fn clone_by(&self, local: Option<&Local>) -> Self {
        match local {
            Some(local) if !local.credits.closed.get() => {
                if local.credits.in_hand.get() == 0 {
                    self.take(BLOCK);
                    local.credits.in_hand.set(BLOCK);
                }
                local.credits.in_hand.set(local.credits.in_hand.get() - 1);
            }
            _ => self.take(1),
        }
        Self(self.0)
    }
}

impl Drop for SharedRef {
    #[inline]
    fn drop(&mut self) {
        if !self.credit(self.local()) {
            self.give_up();
        }
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    fn count(shared: &SharedRef) -> usize {
        shared.counted().count.load(Ordering::Relaxed)
    }

    #[test]
    fn the_owner_counts_in_blocks_and_gives_all_back() {
        let shared = SharedRef::new(Shared::new());
        drop(shared.clone());
        assert_eq!(count(&shared), 1 + BLOCK, "a block for the first");
        let many: Vec<SharedRef> = (0..5 * BLOCK).map(|_| shared.clone()).collect();
        assert_eq!(count(&shared), 1 + 5 * BLOCK);
        drop(many);
        assert_eq!(count(&shared), 1 + 2 * BLOCK, "so many it keeps");
        shared.close_credits();
        assert_eq!(count(&shared), 1);
        let after = shared.clone();
        assert_eq!(count(&shared), 2);
        drop(after);
        assert_eq!(count(&shared), 1);
    }

    #[test]
    fn references_may_be_dropped_on_other_threads() {
        let shared = SharedRef::new(Shared::new());
        let moved: Vec<SharedRef> = (0..10).map(|_| shared.clone()).collect();
        let thread = std::thread::spawn(move || drop(moved));
        thread.join().unwrap();
        shared.close_credits();
        assert_eq!(count(&shared), 1);
    }
}
