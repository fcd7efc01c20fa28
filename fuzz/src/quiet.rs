//! Panics that are not meant end the process, so that the fuzzer sees them wherever they are caught.

use std::cell::Cell;
use std::panic::{self, PanicHookInfo};

thread_local! {
    static CALLS_BACK: Cell<bool> = const { Cell::new(false) };
}

/// What a scheduler must expect that calls back into its own executor: a borrow that is taken, a driver that drives.
fn is_refusal(text: &str) -> bool {
    text.contains("already borrowed")
        || text.contains("already mutably borrowed")
        || text.contains("is being run already")
}

/// Lets a scheduler call back. The panics by which the executor refuses that are not shown.
pub fn calling_back(call: impl FnOnce()) {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALLS_BACK.set(self.0);
        }
    }
    let _restore = Restore(CALLS_BACK.replace(true));
    call();
}

/// Replaces libFuzzer's hook, to which every panic is a crash.
pub fn install() {
    let shown = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        if !(CALLS_BACK.get() && is_refusal(text)) {
            // It aborts.
            shown(info);
        }
    }));
}
