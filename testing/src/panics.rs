//! Panics that are meant, and keeping them in; and a panic hook that sees those that are not, also where the executor catches
//! them. libFuzzer's own hook, which this one calls, ends the process then; a test asks for [`unmeant`].

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Wake;

/// The payload of a panic that is meant.
#[derive(Debug)]
pub struct Meant;

/// Panics, as is meant. The panic hook is not called, so nothing is printed.
pub fn panic_as_meant() -> ! {
    resume_unwind(Box::new(Meant))
}

/// Panics as [`panic_as_meant`], but while another panic unwinds: that would end the process.
pub fn panic_unless_unwinding() {
    if !std::thread::panicking() {
        panic_as_meant();
    }
}

/// Drops a value whose drop may panic. False if it did.
pub fn drop_contained<T>(value: T) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(value))).is_ok()
}

/// Panics when it is dropped.
#[derive(Debug)]
pub struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic_unless_unwinding();
    }
}

/// A waker that panics.
#[derive(Debug)]
pub struct TouchyWaker {
    /// Whether it panics when it is woken.
    pub in_wake: bool,
    /// What panics when it is dropped.
    pub in_drop: Option<PanicsWhenDropped>,
}

impl Wake for TouchyWaker {
    fn wake(self: Arc<Self>) {
        if self.in_wake {
            panic_as_meant();
        }
    }
}

thread_local! {
    static CALLS_BACK: Cell<bool> = const { Cell::new(false) };
    static UNMEANT: Cell<u32> = const { Cell::new(0) };
}

/// What a scheduler must expect that calls back into its own executor: a borrow that is taken, a driver that drives.
fn is_refusal(text: &str) -> bool {
    text.contains("already borrowed")
        || text.contains("already mutably borrowed")
        || text.contains("is being run already")
}

/// Lets a scheduler call back. The panics by which the executor refuses that are not shown.
pub(crate) fn calling_back(call: impl FnOnce()) {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALLS_BACK.set(self.0);
        }
    }
    let _restore = Restore(CALLS_BACK.replace(true));
    call();
}

/// Panics of this thread that [`panic_as_meant`] did not make, since [`install`] was called.
pub fn unmeant() -> u32 {
    UNMEANT.get()
}

/// Puts the hook before the one that is there.
pub fn install() {
    let shown = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        if !(CALLS_BACK.get() && is_refusal(text)) {
            UNMEANT.set(UNMEANT.get() + 1);
            shown(info);
        }
    }));
}
