//! Samples of the instruction pointer, for questions about inlined code.
//!
//! The hot loop is one function after inlining, so all that tells its parts apart is the instruction that a sample hit.
//! pprof-rs cannot say: its collector takes two stacks for equal if they went through the same *functions*, and keeps
//! the instructions of the first (`PartialEq for UnresolvedFrames` in its 0.15.0). Hence this: a timer's signal, whose
//! handler notes one address. There is no unwinding in the handler, and it reads nothing but what the kernel gives it.
//!
//! **This module has the crate's only `unsafe`.**

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc::{c_int, c_void, siginfo_t, ucontext_t};
use nix::sys::signal::{SaFlags, SigAction, SigEvent, SigHandler, SigSet, SigevNotify, Signal, sigaction};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

/// Time between two samples: a prime number of microseconds, so as not to beat with what repeats in the workload.
pub(super) const PERIOD: Duration = Duration::from_micros(499);

/// Samples that there is room for: a quarter of an hour's.
const ROOM: usize = 1 << 21;

static SAMPLES: [AtomicUsize; ROOM] = [const { AtomicUsize::new(0) }; ROOM];
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static LISTENING: AtomicBool = AtomicBool::new(false);

extern "C" fn take(_signal: c_int, _info: *mut siginfo_t, context: *mut c_void) {
    // Ordering: Relaxed throughout, all of it is one thread's.
    if !LISTENING.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: with `SA_SIGINFO` the kernel passes the context of the interrupted code, valid until the handler returns.
    let context = unsafe { &*context.cast::<ucontext_t>() };
    let place = TAKEN.fetch_add(1, Ordering::Relaxed);
    if let Some(sample) = SAMPLES.get(place) {
        sample.store(instruction(context), Ordering::Relaxed);
    }
}

#[cfg(target_arch = "x86_64")]
fn instruction(context: &ucontext_t) -> usize {
    context.uc_mcontext.gregs[nix::libc::REG_RIP as usize] as usize
}

#[cfg(target_arch = "aarch64")]
fn instruction(context: &ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

/// A timer that interrupts this process for samples, until it is dropped. There may be one at a time.
pub(super) struct Sampler {
    _timer: Timer,
}

impl Sampler {
    /// Starts the timer. Nothing is sampled before [`Listening`] says so.
    ///
    /// The timer runs on the monotonic clock, which has high resolution. Those on the CPU-time clocks, pprof's among
    /// them, fire on the kernel's ticks: 250 times a second in many kernels, whatever was asked for.
    pub(super) fn start() -> Result<Self, Errno> {
        TAKEN.store(0, Ordering::Relaxed);
        let action = SigAction::new(SigHandler::SigAction(take), SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handler touches atomics and its arguments only, which is safe in a signal.
        unsafe { sigaction(Signal::SIGPROF, &action) }?;
        let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGPROF, si_value: 0 });
        let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, event)?;
        timer.set(Expiration::Interval(PERIOD.into()), TimerSetTimeFlags::empty())?;
        Ok(Self { _timer: timer })
    }

    /// The addresses sampled, in order; and how many there was no room for.
    pub(super) fn samples(&self) -> (Vec<usize>, usize) {
        let taken = TAKEN.load(Ordering::Relaxed);
        let kept = SAMPLES.iter().take(taken).map(|sample| sample.load(Ordering::Relaxed));
        (kept.collect(), taken.saturating_sub(ROOM))
    }
}

pub(super) fn taken() -> usize {
    TAKEN.load(Ordering::Relaxed).min(ROOM)
}

/// Samples are taken until this is dropped.
pub(super) struct Listening(());

impl Listening {
    pub(super) fn begin() -> Self {
        LISTENING.store(true, Ordering::Relaxed);
        Listening(())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.store(false, Ordering::Relaxed);
    }
}
