//! Atomics that notice how they are used, and whose orderings can be [weakened](super::weakened).

use std::cell::Cell;
use std::sync::atomic::Ordering;

use loom::alloc::Track;

use super::cell::Watch;
use super::weakened::ordering;

/// Checks that an object has an end, that all its uses happen before it, and that there are none afterwards.
struct Life {
    uses: Watch,
    over: Cell<bool>,
    _no_leak: Track<()>,
}

impl Life {
    #[track_caller]
    fn new() -> Self {
        Life { uses: Watch::new(), over: Cell::new(false), _no_leak: Track::new(()) }
    }

    #[track_caller]
    fn check(&self) {
        assert!(!self.over.get(), "used after it was freed");
        self.uses.read();
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        assert!(!self.over.replace(true), "freed twice");
    }
}

/// As std's.
#[track_caller]
pub(crate) fn fence(order: Ordering) {
    match ordering(order, 0) {
        // Weakened to nothing: there is no fence.
        Ordering::Relaxed => {}
        order => loom::sync::atomic::fence(order),
    }
}

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        pub(crate) struct $name {
            inner: loom::sync::atomic::$name,
            life: Life,
        }

        // SAFETY: all threads of a model are one thread of the process.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        #[allow(dead_code, reason = "each kind has all operations")]
        impl $name {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                Self { inner: loom::sync::atomic::$name::new(value), life: Life::new() }
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.life.check();
                self.inner.load(ordering(order, 0))
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.life.check();
                self.inner.store(value, ordering(order, 0));
            }

            #[track_caller]
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.life.check();
                self.inner.swap(value, ordering(order, 0))
            }

            #[track_caller]
            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.life.check();
                self.inner.compare_exchange(current, new, ordering(success, 0), ordering(failure, 1))
            }

            #[track_caller]
            pub(crate) fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            #[track_caller]
            pub(crate) fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                step: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.life.check();
                self.inner.fetch_update(ordering(success, 0), ordering(failure, 1), step)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(Default::default())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicU8, u8);
atomic!(AtomicU64, u64);
atomic!(AtomicUsize, usize);

macro_rules! fetch {
    ($kind:ident, $value:ty: $($operation:ident)*) => {
        impl $kind {
            $(#[track_caller]
            pub(crate) fn $operation(&self, value: $value, order: Ordering) -> $value {
                self.life.check();
                self.inner.$operation(value, ordering(order, 0))
            })*
        }
    };
}

fetch!(AtomicUsize, usize: fetch_add fetch_sub fetch_or fetch_and);
fetch!(AtomicU64, u64: fetch_add);
fetch!(AtomicBool, bool: fetch_or);
