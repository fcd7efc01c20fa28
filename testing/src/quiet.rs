//! A panic hook that sees every panic that is not meant, also where the executor catches it. libFuzzer's own hook, which
//! this one calls, ends the process then; a test asks for [`unmeant`].

use std::cell::Cell;
use std::panic::{self, PanicHookInfo};

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

/// Panics of this thread that [`panic_as_meant`](crate::panics::panic_as_meant) did not make, since [`install`] was called.
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
