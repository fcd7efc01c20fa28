//! [`Listening`]: the probe of an executor, if it has one, and how it is called.
//!
//! Without the feature `observe` none can be set, and what asks for one is compiled to nothing.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::Shared;
use super::probe::{Interest, Probe};
use crate::base::drop_quietly;
use crate::sync::Mutex;

/// What [`Listening::wants`] says: bits.
const EVENTS: u8 = 1;
const WAKERS: u8 = 2;
const EVERY_POLL: u8 = 4;

/// See the [module docs](self).
pub(super) struct Listening {
    /// What the probe wants; nothing if there is none. All orderings of these are Relaxed: the lock publishes the probe.
    wants: AtomicU8,
    /// The probe, for other threads.
    probe: Mutex<Option<Arc<dyn Probe>>>,
    /// How many of its calls have panicked.
    panics: AtomicU64,
}

/// The owner thread's part.
#[derive(Default)]
pub(super) struct LocalProbe {
    probe: RefCell<Option<Arc<dyn Probe>>>,
    /// Whether the probe is being called, and not what it wraps.
    is_called: Cell<bool>,
    /// The executor's last clock reading, as far as it was noted for the probe.
    now_ns: Cell<u64>,
    samples: Samples,
    /// Whether it is told of polls that are timed alone.
    only_timed: Cell<bool>,
}

/// Which polls are samples: one in so many, in the mean, drawn by lot.
#[derive(Default)]
struct Samples {
    /// 0 for none.
    one_in: Cell<u32>,
    /// Polls until one is.
    left: Cell<u32>,
    /// The state of the lots.
    lots: Cell<u64>,
}

impl Samples {
    fn set(&self, one_in: u32) {
        self.one_in.set(one_in);
        self.lots.set(0x9E37_79B9_7F4A_7C15);
        self.draw();
    }

    /// Whether the next poll is a sample.
    #[inline(always)]
    fn next(&self) -> bool {
        let left = self.left.get().wrapping_sub(1);
        self.left.set(left);
        left == 0 && self.drawn()
    }

    #[cold]
    fn drawn(&self) -> bool {
        self.draw();
        self.one_in.get() > 0
    }

    /// Draws how many polls come until one is a sample: 1 to twice as many as the mean less one, each with the same chance.
    fn draw(&self) {
        let one_in = self.one_in.get();
        if one_in == 0 {
            return self.left.set(u32::MAX);
        }
        let mut state = self.lots.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.lots.set(state);
        let most = 2 * u64::from(one_in) - 1;
        self.left.set(1 + (((state >> 32) * most) >> 32) as u32);
    }
}

impl Listening {
    pub(super) fn new() -> Self {
        Self { wants: AtomicU8::new(0), probe: Mutex::new(None), panics: AtomicU64::new(0) }
    }

    #[inline(always)]
    fn wants(&self, bit: u8) -> bool {
        cfg!(feature = "observe") && self.wants.load(Ordering::Relaxed) & bit != 0
    }
}

impl Shared {
    /// Whether there is a probe.
    #[inline(always)]
    pub(crate) fn is_probed(&self) -> bool {
        self.listening.wants(EVENTS)
    }

    /// Whether there is a probe that wants to be told of wakers.
    #[inline(always)]
    pub(super) fn tells_wakers(&self) -> bool {
        self.listening.wants(WAKERS)
    }

    /// Whether there is a probe that wants each poll to be timed.
    #[inline(always)]
    pub(crate) fn times_every_poll(&self) -> bool {
        self.listening.wants(EVERY_POLL)
    }

    /// The probe, if there is one. Owner thread only.
    #[inline(always)]
    pub(crate) fn probe(&self) -> Option<Arc<dyn Probe>> {
        if self.is_probed() { self.get_probe() } else { None }
    }

    #[cold]
    fn get_probe(&self) -> Option<Arc<dyn Probe>> {
        self.local().and_then(|local| local.probe.probe.borrow().clone())
    }

    /// Tells this probe from now on. Owner thread only.
    pub(crate) fn set_probe(&self, probe: Option<Arc<dyn Probe>>) {
        let Some(local) = self.local() else { return };
        let wants = probe.as_ref().map_or(0, |probe| {
            let Interest { wakers, every_poll, one_in, only_timed } = probe.interest();
            local.probe.samples.set(one_in);
            local.probe.only_timed.set(only_timed);
            EVENTS | if wakers { WAKERS } else { 0 } | if every_poll { EVERY_POLL } else { 0 }
        });
        let elsewhere = std::mem::replace(&mut *super::shared::lock(&self.listening.probe), probe.clone());
        let here = local.probe.probe.replace(probe);
        self.listening.wants.store(wants, Ordering::Relaxed);
        // Its drop is user code.
        drop_quietly(elsewhere);
        drop_quietly(here);
    }

    /// How many calls of probes have panicked.
    pub(crate) fn probe_panics(&self) -> u64 {
        self.listening.panics.load(Ordering::Relaxed)
    }

    /// The executor's last clock reading, as far as it was noted. Owner thread only.
    pub(super) fn noted(&self) -> u64 {
        self.local().map_or(0, |local| local.probe.now_ns.get())
    }

    /// Whether the probe is the caller: what it spawns has no parent.
    pub(crate) fn is_in_probe(&self) -> bool {
        self.is_probed() && self.local().is_some_and(|local| local.probe.is_called.get())
    }

    /// Tells the probe of an event, if there is one. Nothing may be borrowed.
    #[inline(always)]
    pub(crate) fn tell(&self, event: impl FnOnce(&dyn Probe)) {
        if self.is_probed() {
            self.tell_probe(event);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_probe(&self, event: impl FnOnce(&dyn Probe)) {
        let Some(local) = self.local() else { return self.tell_elsewhere(event) };
        let probe = local.probe.probe.borrow().clone();
        if let Some(probe) = &probe {
            local.probe.call(&self.listening, || event(&**probe));
        }
        // It may have been replaced meanwhile, by itself.
        drop_quietly(probe);
    }

    /// The probe, on any thread.
    pub(crate) fn probe_for_others(&self) -> Option<Arc<dyn Probe>> {
        super::shared::lock(&self.listening.probe).clone()
    }

    fn tell_elsewhere(&self, event: impl FnOnce(&dyn Probe)) {
        let probe = self.probe_for_others();
        if let Some(probe) = &probe {
            self.listening.call(|| event(&**probe));
        }
        drop_quietly(probe);
    }

    /// What the owner thread calls a probe by.
    pub(crate) fn caller(&self) -> Option<ProbeCaller<'_>> {
        self.local().map(|local| ProbeCaller { local: &local.probe, listening: &self.listening })
    }
}

impl Listening {
    /// Calls a probe. Whether that panicked, which is counted.
    #[inline]
    fn call(&self, event: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(event)) {
            self.panicked(payload);
        }
    }

    #[cold]
    fn panicked(&self, payload: Box<dyn Any + Send>) {
        self.panics.fetch_add(1, Ordering::Relaxed);
        drop_quietly(payload);
    }
}

impl LocalProbe {
    #[inline]
    fn call(&self, listening: &Listening, event: impl FnOnce()) {
        let outer = self.is_called.replace(true);
        listening.call(event);
        self.is_called.set(outer);
    }
}

/// Calls a probe on the owner thread.
#[derive(Clone, Copy)]
pub(crate) struct ProbeCaller<'a> {
    local: &'a LocalProbe,
    listening: &'a Listening,
}

impl ProbeCaller<'_> {
    /// Notes the executor's last clock reading.
    #[inline(always)]
    pub(crate) fn note(&self, now_ns: u64) {
        self.local.now_ns.set(now_ns);
    }

    /// Whether the next poll is a sample.
    #[inline(always)]
    pub(crate) fn draws_next(&self) -> bool {
        self.local.samples.next()
    }

    /// Whether the probe is told of polls that are timed alone.
    pub(crate) fn tells_only_timed(&self) -> bool {
        self.local.only_timed.get()
    }

    #[inline]
    pub(crate) fn call(&self, event: impl FnOnce()) {
        self.local.call(self.listening, event);
    }

    /// Runs something inside a call of a probe, which `wrap` is to make, with a function that does so and gives the second result. If
    /// it is not called, runs it afterwards. The first result.
    ///
    /// What is run must not panic.
    #[inline]
    pub(crate) fn run_within<T, R>(
        &self,
        wrap: impl FnOnce(&mut dyn FnMut() -> R),
        run: impl FnOnce() -> (T, R),
    ) -> T {
        let (mut run, mut output) = (Some(run), None);
        let mut call = || {
            let Some(run) = run.take() else { unreachable!("what is run is given up by that") };
            let outer = self.local.is_called.replace(false);
            let (value, shown) = run();
            self.local.is_called.set(outer);
            output = Some(value);
            shown
        };
        self.call(|| wrap(&mut call));
        match (output, run) {
            (Some(value), _) => value,
            (None, Some(run)) => run().0,
            (None, None) => unreachable!("it was run"),
        }
    }

    /// The same of what may panic.
    pub(crate) fn run_panicking<T>(&self, wrap: impl FnOnce(&mut dyn FnMut()), run: impl FnOnce() -> T) -> T {
        let mut panicked = None;
        let run = || match catch_unwind(AssertUnwindSafe(run)) {
            Ok(value) => (Some(value), ()),
            Err(payload) => {
                panicked = Some(payload);
                (None, ())
            }
        };
        match (self.run_within(wrap, run), panicked) {
            (Some(value), _) => value,
            (None, Some(payload)) => resume_unwind(payload),
            (None, None) => unreachable!("it has a value or has panicked"),
        }
    }
}
