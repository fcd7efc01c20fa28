//! The waker of one of several futures that an executor is run for at once.

use std::sync::atomic::Ordering;

use super::MainWaker;
use crate::base::wake_quietly;
use crate::sync::{Arc, AtomicBool, AtomicWaker, Signal, impl_wake};
use crate::task::HostWaker;

/// The waker of a run's future.
#[derive(Debug)]
pub(crate) struct RunWaker {
    woken: AtomicBool,
    /// The waker of the task that the run is polled in, while it is not.
    host: AtomicWaker,
    /// Whether that is there. Looked at where a look at `host` costs two atomic read-modify-writes.
    waits: AtomicBool,
    /// Ends the slice of a turn under way, or wakes the host of the run that drove last.
    main: Arc<MainWaker>,
}

impl RunWaker {
    /// Of a future that is to be polled.
    pub(crate) fn new(main: &Arc<MainWaker>) -> Arc<Self> {
        Arc::new(Self {
            woken: AtomicBool::new(true),
            host: AtomicWaker::new(),
            waits: AtomicBool::new(false),
            main: Arc::clone(main),
        })
    }

    /// Takes a host's waker back, before its keeper lets go of it.
    pub(crate) fn take_back(&self, host: &HostWaker) {
        drop(host.take_back(&self.host));
    }

    pub(crate) fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `signal`, as in `MainWaker::take_woken`.
        self.woken.load(Ordering::Relaxed) && self.woken.swap(false, Ordering::Acquire)
    }

    /// Has the host woken when the future is, or was already.
    pub(crate) fn wait(&self, host: &HostWaker) {
        self.host.register(host);
        // Ordering: Relaxed, what follows publishes it.
        self.waits.store(true, Ordering::Relaxed);
        // Ordering: Release pairs with the Acquire in `signal`. A wake comes before this read-modify-write, which sees it, or
        // after it, and then sees that the run waits.
        if self.woken.fetch_or(false, Ordering::Release) {
            self.host.wake();
        }
    }

    /// The run is polled.
    pub(crate) fn wait_no_more(&self) {
        // Ordering: Relaxed, only this thread writes it. A wake that still sees that the run waits finds nothing at `host`, or
        // wakes a host that is awake.
        if self.waits.load(Ordering::Relaxed) {
            self.waits.store(false, Ordering::Relaxed);
            drop(self.host.take());
        }
    }

    /// Has the run polled, its future not.
    pub(crate) fn wake_host(&self) {
        if let Some(host) = self.host.take()
            && self.main.host_is_here()
        {
            wake_quietly(host);
        }
    }
}

impl_wake!(RunWaker);

impl Signal for RunWaker {
    fn signal(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `take`. Acquire pairs with the Release in
        // `wait`.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.main.signal();
            // Ordering: Relaxed, the swap orders it.
            if self.waits.load(Ordering::Relaxed) && self.main.host_is_here() {
                self.host.wake();
            }
        }
    }
}
