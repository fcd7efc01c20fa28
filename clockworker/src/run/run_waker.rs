//! [`RunWaker`]: the waker of one of several futures that run an executor at once.

use std::sync::atomic::Ordering;

use crate::base::wake_quietly;
use crate::sync::{Arc, AtomicBool, AtomicWaker, WakeTarget, impl_wake};
use crate::task::{HostWaker, SharedRef};

/// The waker of a run's future.
pub(crate) struct RunWaker {
    woken: AtomicBool,
    /// The waker of the task that polls the run, while the run waits.
    host: AtomicWaker,
    /// Whether the run waits. Read where a look at `host` costs two atomic read-modify-writes.
    waits: AtomicBool,
    /// Of the executor, whose slice under way a wake ends, or whose parked host it wakes.
    shared: SharedRef,
}

impl RunWaker {
    /// A waker whose future is to be polled.
    pub(super) fn new(shared: &SharedRef) -> Arc<Self> {
        Arc::new(Self {
            woken: AtomicBool::new(true),
            host: AtomicWaker::new(),
            waits: AtomicBool::new(false),
            shared: shared.clone(),
        })
    }

    /// Takes a host's waker back, before its keeper drops it.
    pub(crate) fn take_back(&self, host: &HostWaker) {
        drop(host.take_back(&self.host));
    }

    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `wake`, as in `MainFlag::take_woken`.
        self.woken.load(Ordering::Relaxed) && self.woken.swap(false, Ordering::Acquire)
    }

    /// Has a wake of the future wake the host too. Wakes it now if the future was woken already.
    pub(crate) fn register(&self, host: &HostWaker) {
        self.host.register(host);
        // Ordering: Relaxed, the read-modify-write below publishes it.
        self.waits.store(true, Ordering::Relaxed);
        // Ordering: Release pairs with the Acquire in `wake`. A wake comes before this read-modify-write, which sees it, or
        // after it, and then sees that the run waits.
        if self.woken.fetch_or(false, Ordering::Release) {
            self.host.wake();
        }
    }

    /// Has wakes of the future wake the host no more, as the run is being polled.
    #[inline]
    pub(crate) fn unregister(&self) {
        // Ordering: Relaxed, only this thread writes it. A wake that still sees that the run waits finds nothing at `host`, or
        // wakes a host that is awake.
        if self.waits.load(Ordering::Relaxed) {
            self.waits.store(false, Ordering::Relaxed);
            drop(self.host.take());
        }
    }

    /// Has the run polled, but not its future.
    pub(crate) fn wake_host(&self) {
        self.host.take().into_iter().for_each(wake_quietly);
    }
}

impl_wake!(RunWaker);

impl WakeTarget for RunWaker {
    fn wake(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `take`. Acquire pairs with the Release in
        // `wait`.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.shared.main.wake(&self.shared.inbox);
            // Ordering: Relaxed, the swap orders it.
            if self.waits.load(Ordering::Relaxed) {
                self.host.wake();
            }
        }
    }
}
