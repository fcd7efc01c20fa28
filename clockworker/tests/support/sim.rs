//! Virtual time for scheduling tests: a host whose clock moves only when a task works or when nobody has anything to do.
//!
//! Nothing here reads a real clock or sleeps, so every test that uses it gives the same result on every run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use clockworker::{Builder, Executor, ManualClock};

/// Microseconds.
pub(crate) const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// A host budget and poll cap that never end a slice.
pub(crate) const NEVER: Duration = Duration::from_secs(1_000_000_000);

/// Time, timers and a host, all virtual. Clones share one time.
#[derive(Clone, Default)]
pub(crate) struct Sim {
    clock: ManualClock,
    timers: Rc<RefCell<BTreeMap<(Duration, u64), Waker>>>,
    timer_count: Rc<Cell<u64>>,
}

impl Sim {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn clock(&self) -> ManualClock {
        self.clock.clone()
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// An executor on this clock whose host never interrupts it.
    pub(crate) fn builder(&self) -> Builder {
        Executor::builder().clock(self.clock()).host_budget(NEVER).poll_cap(u32::MAX)
    }

    pub(crate) fn executor(&self) -> Executor {
        self.builder().build().expect("the options are in range")
    }

    /// The calling task computes for that long; timers that become due meanwhile fire at the end of it.
    pub(crate) fn work(&self, time: Duration) {
        self.clock.advance(time);
        self.fire();
    }

    /// Ready once the clock has come to `deadline`.
    pub(crate) fn sleep_until(&self, deadline: Duration) -> impl Future<Output = ()> + use<> {
        let sim = self.clone();
        let key = (deadline, self.timer_count.replace(self.timer_count.get() + 1));
        poll_fn(move |cx| {
            if sim.now() >= deadline {
                return Poll::Ready(());
            }
            let old = sim.timers.borrow_mut().insert(key, cx.waker().clone());
            drop(old);
            Poll::Pending
        })
    }

    pub(crate) fn sleep(&self, time: Duration) -> impl Future<Output = ()> + use<> {
        self.sleep_until(self.now() + time)
    }

    fn fire(&self) {
        loop {
            let due = match self.timers.borrow_mut().first_entry() {
                Some(first) if first.key().0 <= self.clock.now() => first.remove(),
                _ => return,
            };
            due.wake();
        }
    }

    /// Runs the executor until `main` is done. Polls it only when it was woken; when it was not, everybody waits for a
    /// timer, so the clock moves to the first.
    pub(crate) fn run<F: Future>(&self, ex: &Executor, main: F) -> F::Output {
        self.drive(ex, main).expect("nobody is ready, and no timer is set: this would hang")
    }

    /// Runs the executor until nobody is ready and no timer is set. Its `run_until` has nothing to do meanwhile.
    pub(crate) fn drain(&self, ex: &Executor) {
        let never: Option<()> = self.drive(ex, std::future::pending());
        assert_eq!(never, None);
    }

    /// None if it would hang.
    fn drive<F: Future>(&self, ex: &Executor, main: F) -> Option<F::Output> {
        let host = Arc::new(HostWaker(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&host));
        let panicked = ex.stats().panicked;
        let mut run = pin!(ex.run_until(main));
        loop {
            if !host.0.swap(false, Ordering::AcqRel) {
                let first = self.timers.borrow().keys().next().copied();
                let (deadline, _) = first?;
                self.clock.set(deadline);
                self.fire();
                continue;
            }
            let polled = run.as_mut().poll(&mut Context::from_waker(&waker));
            // A failed assertion in a task is a panic that its join handle gets, and often nobody reads that.
            assert_eq!(ex.stats().panicked, panicked, "a task panicked, see above");
            if let Poll::Ready(output) = polled {
                return Some(output);
            }
        }
    }
}

struct HostWaker(AtomicBool);

impl Wake for HostWaker {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
