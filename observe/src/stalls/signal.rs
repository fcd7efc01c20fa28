//! [`StackSignal`]: asks a thread for its stack, by a signal whose handler walks it. Linux.
//!
//! The stack goes into a [table](super::table) that is a static, so that the handler needs no memory.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::error::Kind;
use super::instant;
use super::per_process::PerProcess;
use super::stack::Frame;
use super::table::{GivenUp, StackTable, Walked};
use super::{NoStack, Stack, StallError};
use crate::quietly::lock;

/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to look for it.
const INTERVAL: Duration = Duration::from_micros(200);

static TABLE: StackTable = StackTable::new();

/// A thread, by the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tid(c_int);

impl Tid {
    pub(super) fn current() -> Self {
        // SAFETY: `gettid` takes no arguments and cannot fail.
        Tid(unsafe { libc::syscall(libc::SYS_gettid) } as c_int)
    }

    fn number(self) -> u32 {
        self.0.cast_unsigned()
    }
}

/// The handler. Allocates nothing, locks nothing, and cannot panic.
extern "C" fn walk(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: it takes no arguments and gives the address of the calling thread's `errno`.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: that address is valid while the thread runs.
    let kept = unsafe { errno.read() };
    if TABLE.begin(Tid::current().number()) {
        let mut depth = 0;
        let keep = |frame: &backtrace::Frame| {
            let is_kept = TABLE.keep(depth, frame.ip().addr());
            depth += usize::from(is_kept);
            is_kept
        };
        // SAFETY: nothing else of this crate walks a stack at the same time, and on this platform walks need no other
        // synchronisation: `_Unwind_Backtrace` may be called on any number of threads.
        unsafe { backtrace::trace_unsynchronized(keep) };
        TABLE.end(depth, interrupted_at(context));
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

/// A signal with its handler. Dropping the last one of a number puts back what was there before.
#[derive(Debug)]
pub(super) struct StackSignal {
    number: c_int,
}

impl StackSignal {
    /// Has the signal handled; none for the one by default.
    pub(super) fn install(number: Option<i32>) -> Result<Self, StallError> {
        let allowed = (libc::SIGRTMIN(), libc::SIGRTMAX());
        let number = number.unwrap_or(allowed.1 - 4);
        if !(allowed.0..=allowed.1).contains(&number) {
            return Err(StallError(Kind::Signal { given: number, allowed }));
        }
        let mut all = lock(&SIGNALS.get().installed);
        if all.is_empty() {
            // What is walked first loads what a walk needs.
            backtrace::trace(|_| true);
            // A fork may have copied any state.
            TABLE.reset();
        }
        match all.iter_mut().find(|installed| installed.number == number) {
            Some(installed) => installed.users += 1,
            None => {
                // The handler may be there already, from before a fork.
                if !matches!(handler_of(number), libc::SIG_DFL) && handler_of(number) != own_handler() {
                    return Err(StallError(Kind::SignalInUse(number)));
                }
                set_handler(number, own_handler());
                all.push(Installed { number, users: 1 });
            }
        }
        Ok(Self { number })
    }

    /// Where the thread stands. Waits for as long as the poll `goes_on`, and for a second at most. Called by the lookout.
    pub(super) fn stack_of(&self, thread: Tid, goes_on: impl Fn() -> bool) -> Result<Stack, NoStack> {
        let asking = lock(&SIGNALS.get().asking);
        ask(thread, self.number)?;
        wait(thread, goes_on)?;
        let walked = TABLE.take();
        drop(asking);
        Ok(named(&walked))
    }
}

impl Drop for StackSignal {
    fn drop(&mut self) {
        let mut all = lock(&SIGNALS.get().installed);
        // A forked child has a copy of a watch, and has installed nothing.
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
    TABLE.ask(thread.number())?;
    let process = std::process::id();
    // SAFETY: three numbers. The signal has our handler while a `StackSignal` of that number is there.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread.0, number) };
    if sent != 0 {
        // The thread is gone.
        TABLE.give_up(thread.number());
        return Err(NoStack::Ended);
    }
    Ok(())
}

/// Waits until the stack is walked.
fn wait(thread: Tid, goes_on: impl Fn() -> bool) -> Result<(), NoStack> {
    let end = instant() + PATIENCE;
    loop {
        if TABLE.is_walked() {
            return Ok(());
        }
        let (goes_on, is_late) = (goes_on(), instant() >= end);
        if !goes_on || is_late {
            match TABLE.give_up(thread.number()) {
                GivenUp::InTime if goes_on => return Err(NoStack::NoAnswer),
                GivenUp::InTime => return Err(NoStack::Ended),
                GivenUp::Walking if is_late => return Err(NoStack::Busy),
                GivenUp::Walking | GivenUp::Walked => {}
            }
        }
        thread::park_timeout(INTERVAL);
    }
}

/// Names the functions at the addresses, from the interrupted one on.
fn named(Walked { addresses, interrupted_at }: &Walked) -> Stack {
    let first = addresses.iter().position(|&address| address == *interrupted_at);
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
    Stack { frames }
}
