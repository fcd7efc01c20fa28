//! [`StackSignal`]: asks a thread for its stack, by a signal whose handler walks it. Linux.
//!
//! One stack is walked at a time, into a table that is a static, so that the handler needs no memory. Whoever asks is a lookout,
//! one at a time:
//!
//! | State | Who may change what | Next |
//! |---|---|---|
//! | `IDLE` | the lookout: all | `ASKED`, by the lookout, which then sends the signal |
//! | `ASKED` | nobody | `WALKING`, by the handler on the thread that was asked; `IDLE`, by a lookout that gives up |
//! | `WALKING` | the handler: all | `WALKED`, by the handler |
//! | `WALKED` | the lookout: all | `IDLE`, by the lookout |
//!
//! A signal that comes late, or from somebody else, finds another state or another thread and does nothing.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::stack::Frame;
use super::{NoStack, Stack, StallError};
use crate::base::{PerProcess, Process, instant};

const IDLE: u32 = 0;
const ASKED: u32 = 1;
const WALKING: u32 = 2;
const WALKED: u32 = 3;

/// The most frames that are kept: the innermost.
const DEPTH: usize = 256;

/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to look for it.
const INTERVAL: Duration = Duration::from_micros(200);

static STATE: AtomicU32 = AtomicU32::new(IDLE);
/// The thread that is asked.
static ASKED_THREAD: AtomicI32 = AtomicI32::new(0);
/// The instruction at which the thread was interrupted. The frames before it are the handler's.
static INTERRUPTED_AT: AtomicUsize = AtomicUsize::new(0);
static DEPTH_WALKED: AtomicUsize = AtomicUsize::new(0);
static ADDRESSES: [AtomicUsize; DEPTH] = [const { AtomicUsize::new(0) }; DEPTH];

/// A thread, by the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tid(c_int);

impl Tid {
    pub(super) fn current() -> Self {
        // SAFETY: `gettid` takes no arguments and cannot fail.
        Tid(unsafe { libc::syscall(libc::SYS_gettid) } as c_int)
    }
}

/// The handler. Allocates nothing, locks nothing, and cannot panic.
extern "C" fn walk(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: it takes no arguments and gives the address of the calling thread's `errno`.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: that address is valid while the thread runs.
    let kept = unsafe { errno.read() };
    // Ordering: Acquire, pairs with the Release in `ask`, for the thread that is asked.
    if STATE.load(Ordering::Acquire) == ASKED
        && ASKED_THREAD.load(Ordering::Relaxed) == Tid::current().0
        && STATE.compare_exchange(ASKED, WALKING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    {
        INTERRUPTED_AT.store(interrupted_at(context), Ordering::Relaxed);
        let mut depth = 0;
        let keep = |frame: &backtrace::Frame| {
            let Some(address) = ADDRESSES.get(depth) else { return false };
            address.store(frame.ip().addr(), Ordering::Relaxed);
            depth += 1;
            true
        };
        // SAFETY: nothing else of this crate walks a stack at the same time, and on this platform walks need no other
        // synchronisation: `_Unwind_Backtrace` may be called on any number of threads.
        unsafe { backtrace::trace_unsynchronized(keep) };
        DEPTH_WALKED.store(depth, Ordering::Relaxed);
        // Ordering: Release, pairs with the Acquire in `wait`.
        STATE.store(WALKED, Ordering::Release);
    }
    // SAFETY: as above.
    unsafe { errno.write(kept) };
}

/// The interrupted instruction, or 0 where this is not known.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn interrupted_at(context: *mut c_void) -> usize {
    // SAFETY: with `SA_SIGINFO` the kernel passes the context of the interrupted code, valid until the handler returns.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    #[cfg(target_arch = "x86_64")]
    let at = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    let at = context.uc_mcontext.pc as usize;
    at
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn interrupted_at(_context: *mut c_void) -> usize {
    0
}

/// A signal that this process handles, and how many watch by it.
#[derive(Debug)]
struct Installed {
    number: c_int,
    users: usize,
}

/// What a process has once.
#[derive(Default)]
struct Signals {
    installed: Mutex<Vec<Installed>>,
    /// Held by the lookout that asks. (A lookout that was told to end may not have yet.)
    asking: Mutex<()>,
}

static SIGNALS: PerProcess<Signals> = PerProcess::new();

/// Nothing that could panic runs under the locks.
fn lock<T>(data: &'static Mutex<T>) -> MutexGuard<'static, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A signal with its handler. Dropping the last one of a number puts back what was there before.
#[derive(Debug)]
pub(super) struct StackSignal {
    number: c_int,
    process: Process,
}

impl StackSignal {
    /// Has the signal handled; none for the one by default.
    pub(super) fn install(number: Option<i32>, process: Process) -> Result<Self, StallError> {
        let allowed = (libc::SIGRTMIN(), libc::SIGRTMAX());
        let number = number.unwrap_or(allowed.1 - 4);
        if !(allowed.0..=allowed.1).contains(&number) {
            return Err(StallError::signal(number, allowed));
        }
        let mut all = lock(&SIGNALS.of(process).installed);
        if all.is_empty() {
            // What is walked first loads what a walk needs.
            backtrace::trace(|_| true);
            // A fork may have copied any state.
            STATE.store(IDLE, Ordering::Relaxed);
        }
        match all.iter_mut().find(|installed| installed.number == number) {
            Some(installed) => installed.users += 1,
            None => {
                // The handler may be there already, from before a fork.
                if !matches!(handler_of(number), libc::SIG_DFL) && handler_of(number) != own_handler() {
                    return Err(StallError::signal_in_use(number));
                }
                set_handler(number, own_handler());
                all.push(Installed { number, users: 1 });
            }
        }
        Ok(Self { number, process })
    }

    /// Where the thread stands. Waits for as long as the poll `goes_on`, and for a second at most. Called by the lookout.
    pub(super) fn stack_of(&self, thread: Tid, goes_on: impl Fn() -> bool) -> Result<Stack, NoStack> {
        let asking = lock(&SIGNALS.of(self.process).asking);
        ask(thread, self.number)?;
        wait(goes_on)?;
        let depth = DEPTH_WALKED.load(Ordering::Relaxed).min(DEPTH);
        let addresses = ADDRESSES[..depth].iter().map(|address| address.load(Ordering::Relaxed));
        let addresses: Vec<usize> = addresses.collect();
        let interrupted_at = INTERRUPTED_AT.load(Ordering::Relaxed);
        STATE.store(IDLE, Ordering::Relaxed);
        drop(asking);
        Ok(named(&addresses, interrupted_at))
    }
}

impl Drop for StackSignal {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return;
        }
        let mut all = lock(&SIGNALS.of(self.process).installed);
        let Some(at) = all.iter().position(|installed| installed.number == self.number) else { return };
        all[at].users -= 1;
        if all[at].users == 0 {
            all.swap_remove(at);
            // Unless somebody has replaced ours.
            if handler_of(self.number) == own_handler() {
                // A thread that blocks the signal may have one pending, which would end the process. To ignore the signal
                // throws that away.
                set_handler(self.number, libc::SIG_IGN);
                set_handler(self.number, libc::SIG_DFL);
            }
        }
    }
}

fn own_handler() -> libc::sighandler_t {
    walk as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as libc::sighandler_t
}

/// What handles the signal.
fn handler_of(number: c_int) -> libc::sighandler_t {
    let mut action = no_action();
    // SAFETY: no new action is given, and there is room for the present one.
    unsafe { libc::sigaction(number, ptr::null(), &raw mut action) };
    action.sa_sigaction
}

/// Has the signal handled so. It does not fail for a signal that may be handled.
fn set_handler(number: c_int, handler: libc::sighandler_t) {
    let mut action = no_action();
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the handler is ours, which is safe in a signal, or one of the two that are no functions.
    unsafe { libc::sigaction(number, &raw const action, ptr::null_mut()) };
}

/// No handler, no flags, and no signals blocked meanwhile.
fn no_action() -> libc::sigaction {
    // SAFETY: it is made of numbers, sets of bits and an optional pointer, of each of which all zeros is a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Sends the signal.
fn ask(thread: Tid, number: c_int) -> Result<(), NoStack> {
    // Ordering: Acquire, pairs with the handler's Release: it is done with the table.
    if STATE.load(Ordering::Acquire) == WALKING {
        return Err(NoStack::Busy);
    }
    ASKED_THREAD.store(thread.0, Ordering::Relaxed);
    // Ordering: Release, for the handler.
    STATE.store(ASKED, Ordering::Release);
    let process = std::process::id();
    // SAFETY: three numbers. The signal has our handler while a `StackSignal` of that number is there.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread.0, number) };
    if sent != 0 {
        // The thread is gone.
        STATE.store(IDLE, Ordering::Relaxed);
        return Err(NoStack::Ended);
    }
    Ok(())
}

/// Waits until the stack is walked.
fn wait(goes_on: impl Fn() -> bool) -> Result<(), NoStack> {
    let end = instant() + PATIENCE;
    loop {
        // Ordering: Acquire, pairs with the handler's Release, for the table.
        if STATE.load(Ordering::Acquire) == WALKED {
            return Ok(());
        }
        let (goes_on, is_late) = (goes_on(), instant() >= end);
        if !goes_on || is_late {
            let given_up = STATE.compare_exchange(ASKED, IDLE, Ordering::Relaxed, Ordering::Relaxed);
            match given_up {
                Ok(_) if goes_on => return Err(NoStack::NoAnswer),
                Ok(_) => return Err(NoStack::Ended),
                Err(WALKING) if is_late => return Err(NoStack::Busy),
                Err(_) => {}
            }
        }
        thread::park_timeout(INTERVAL);
    }
}

/// Names the functions at the addresses, from the interrupted one on.
fn named(addresses: &[usize], interrupted_at: usize) -> Stack {
    let first = addresses.iter().position(|&address| address == interrupted_at);
    let mut frames = Vec::new();
    for (depth, &address) in addresses[first.unwrap_or(0)..].iter().enumerate() {
        // Addresses are taken for those that calls return to, so what is looked up is one before.
        let exact = usize::from(first.is_some() && depth == 0);
        let before = frames.len();
        backtrace::resolve(ptr::without_provenance_mut(address + exact), |symbol| {
            frames.push(Frame {
                address,
                function: symbol.name().map(|name| format!("{name:#}")),
                file: symbol.filename().map(|file| file.display().to_string()),
                line: symbol.lineno(),
            });
        });
        if frames.len() == before {
            frames.push(Frame { address, function: None, file: None, line: None });
        }
    }
    Stack::new(frames)
}
