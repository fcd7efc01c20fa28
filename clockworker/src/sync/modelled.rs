//! Loom's things, in the shape of the real ones, with more checks:
//!
//! * an atomic's end counts as a write, so all uses of it must happen before; and it must end, and not be used afterwards;
//! * every use of a cell counts as an access, of which loom allows no two at once;
//! * [`AtomicWaker`] is a lock and a slot. The real one wakes more often (also whoever registers during a wake), never less.

use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{RawWaker, RawWakerVTable, Waker};

use loom::alloc::Track;

pub(crate) use loom::sync::atomic::fence;
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
pub(crate) use loom::thread::{self, Thread};

use super::Signal;

/// Checks that an object has an end, that all its uses happen before it, and that there are none afterwards.
struct Life {
    uses: Watch,
    over: std::cell::Cell<bool>,
    _no_leak: Track<()>,
}

impl Life {
    fn new() -> Self {
        Life { uses: Watch::new(), over: std::cell::Cell::new(false), _no_leak: Track::new(()) }
    }

    #[track_caller]
    fn check(&self) {
        assert!(!self.over.get() || std::thread::panicking(), "used after it was freed");
        self.uses.read();
    }
}

impl Drop for Life {
    #[track_caller]
    fn drop(&mut self) {
        assert!(!self.over.replace(true) || std::thread::panicking(), "freed twice");
    }
}

/// Which thread of the model it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(thread::ThreadId);

impl ThreadId {
    pub(crate) fn current() -> Self {
        ThreadId(thread::current().id())
    }
}

macro_rules! atomic {
    ($name:ident, $value:ty $(, $parameter:ident)?) => {
        pub(crate) struct $name $(<$parameter>)? {
            inner: loom::sync::atomic::$name $(<$parameter>)?,
            life: Life,
        }

        // SAFETY: all threads of a model are one thread of the process.
        unsafe impl $(<$parameter>)? Send for $name $(<$parameter>)? {}
        // SAFETY: as above.
        unsafe impl $(<$parameter>)? Sync for $name $(<$parameter>)? {}

        #[allow(dead_code, reason = "each kind has all operations")]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                Self { inner: loom::sync::atomic::$name::new(value), life: Life::new() }
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.life.check();
                self.inner.load(order)
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.life.check();
                self.inner.store(value, order);
            }

            #[track_caller]
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.life.check();
                self.inner.swap(value, order)
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
                self.inner.compare_exchange(current, new, success, failure)
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
                self.inner.fetch_update(success, failure, step)
            }
        }

        impl $(<$parameter>)? std::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicU8, u8);
atomic!(AtomicUsize, usize);
atomic!(AtomicPtr, *mut T, T);

macro_rules! fetch {
    ($kind:ident, $value:ty: $($operation:ident)*) => {
        impl $kind {
            $(#[track_caller]
            pub(crate) fn $operation(&self, value: $value, order: Ordering) -> $value {
                self.life.check();
                self.inner.$operation(value, order)
            })*
        }
    };
}

fetch!(AtomicUsize, usize: fetch_add fetch_sub fetch_or fetch_and);
fetch!(AtomicBool, bool: fetch_or);

/// As std's; reading and writing are seen by loom.
pub(crate) struct Cell<T> {
    watch: Watch,
    value: std::cell::Cell<T>,
}

impl<T> Cell<T> {
    #[track_caller]
    pub(crate) fn new(value: T) -> Self {
        Cell { watch: Watch::new(), value: std::cell::Cell::new(value) }
    }

    #[track_caller]
    pub(crate) fn get(&self) -> T
    where
        T: Copy,
    {
        self.watch.read();
        self.value.get()
    }

    #[track_caller]
    pub(crate) fn set(&self, value: T) {
        drop(self.replace(value));
    }

    #[track_caller]
    pub(crate) fn replace(&self, value: T) -> T {
        self.watch.write();
        self.value.replace(value)
    }
}

/// As std's; every `get` counts as a write, at that moment.
pub(crate) struct UnsafeCell<T> {
    watch: Watch,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    #[track_caller]
    pub(crate) fn new(value: T) -> Self {
        UnsafeCell { watch: Watch::new(), value: std::cell::UnsafeCell::new(value) }
    }

    #[track_caller]
    pub(crate) fn get(&self) -> *mut T {
        self.watch.write();
        self.value.get()
    }

    /// The caller's pointer leads to a live cell.
    #[track_caller]
    pub(crate) fn raw_get(this: *const Self) -> *mut T {
        // SAFETY: see above.
        unsafe { &*this }.get()
    }
}

/// Tells loom of reads and writes. The end is a write.
struct Watch(loom::cell::UnsafeCell<()>);

impl Watch {
    fn new() -> Self {
        Watch(loom::cell::UnsafeCell::new(()))
    }

    #[track_caller]
    fn read(&self) {
        // One panic is enough: what is dropped in it is not looked at.
        if !std::thread::panicking() {
            self.0.with(|_| ());
        }
    }

    #[track_caller]
    fn write(&self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.write();
    }
}

/// See the [module docs](self).
pub(crate) struct AtomicWaker {
    slot: Mutex<Option<Waker>>,
    /// Written by the last registration. What std's `RefCell` does is no step of the model.
    registered: RefCell<Rc<loom::cell::UnsafeCell<()>>>,
}

// SAFETY: all threads of a model are one thread of the process.
unsafe impl Send for AtomicWaker {}
// SAFETY: as above.
unsafe impl Sync for AtomicWaker {}

impl AtomicWaker {
    pub(crate) fn new() -> Self {
        AtomicWaker {
            slot: Mutex::new(None),
            registered: RefCell::new(Rc::new(loom::cell::UnsafeCell::new(()))),
        }
    }

    fn exchange(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut slot = self.slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::replace(&mut *slot, waker)
    }

    #[track_caller]
    pub(crate) fn register(&self, waker: &Waker) {
        drop(self.exchange(Some(waker.clone())));
        *self.registered.borrow_mut() = Rc::new(loom::cell::UnsafeCell::new(()));
    }

    pub(crate) fn take(&self) -> Option<Waker> {
        self.exchange(None)
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }
}

/// Checks that the last registration happened before. To be called right after the operation that relies on it, as there
/// may be another registration soon.
///
/// Loom runs threads one after another, so it does not show what processors may do here without the ordering: to wake
/// before the registration although it was seen ("load buffering").
#[track_caller]
pub(crate) fn rely_on_registration(host: &AtomicWaker) {
    let registered = Rc::clone(&host.registered.borrow());
    registered.with(|_| ());
}

impl std::fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}

macro_rules! impl_wake {
    ($signal:ty) => {};
}
pub(crate) use impl_wake;

/// A waker that calls [`Signal::signal`], counted by loom.
pub(crate) fn waker_of<S: Signal + 'static>(signal: Arc<S>) -> Waker {
    // SAFETY: the functions keep to the contract: each waker owns one count of the `Arc`.
    unsafe { Waker::from_raw(raw_waker(signal)) }
}

fn raw_waker<S: Signal + 'static>(signal: Arc<S>) -> RawWaker {
    RawWaker::new(Arc::into_raw(signal).cast(), table::<S>())
}

fn table<S: Signal + 'static>() -> &'static RawWakerVTable {
    // SAFETY of all: the pointer came from `Arc::into_raw` and its count is the waker's.
    &const {
        RawWakerVTable::new(
            |data| {
                let signal = std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<S>()) });
                raw_waker(Arc::clone(&signal))
            },
            |data| unsafe { Arc::from_raw(data.cast::<S>()) }.signal(),
            |data| std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<S>()) }).signal(),
            |data| drop(unsafe { Arc::from_raw(data.cast::<S>()) }),
        )
    }
}

thread_local! {
    /// Memory of this execution that was freed. Kept, so that who uses it nevertheless is told.
    static GRAVEYARD: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Frees what nobody refers to any more, but for its memory.
pub(crate) fn reclaim<T: 'static>(last: Box<T>) {
    let raw = Box::into_raw(last);
    // SAFETY: it came from a box, and is dropped once.
    unsafe { std::ptr::drop_in_place(raw) };
    // SAFETY: as above. What may be uninitialised has no drop.
    let memory: Box<MaybeUninit<T>> = unsafe { Box::from_raw(raw.cast()) };
    GRAVEYARD.with_borrow_mut(|graveyard| graveyard.push(memory));
}

/// Between executions: gives freed memory back.
pub(crate) fn clear_graveyard() {
    GRAVEYARD.with_borrow_mut(Vec::clear);
}
