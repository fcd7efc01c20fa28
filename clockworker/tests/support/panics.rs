//! Panics that a test means to happen: kept out of its output, and read.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::thread;

/// Begins the message of each panic that a test means to happen.
pub(crate) const MEANT: &str = "meant: ";

/// Panics as the test means to, out of the output.
#[track_caller]
pub(crate) fn panic_as_meant(why: &str) -> ! {
    // A panic under way would forbid it.
    if !thread::panicking() {
        hush();
    }
    panic!("{MEANT}{why}");
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// File and line of this thread's last panic.
    pub(super) static PLACE: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// Keeps the panics that are meant out of the output. Others are shown as ever.
pub(crate) fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PLACE.set(info.location().map(|place| (place.file().to_owned(), place.line())));
            let meant = text_of(info.payload()).is_some_and(|text| text.starts_with(MEANT));
            if !meant && !QUIET.get() {
                shown(info);
            }
        }));
    });
}

/// Keeps all panics of this thread out of the output meanwhile, for those that are the executor's own.
pub(crate) fn quietly<T>(then: impl FnOnce() -> T) -> T {
    hush();
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(then));
    QUIET.set(false);
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// What a panic that was meant said, without the mark.
#[track_caller]
pub(crate) fn said(payload: Box<dyn Any + Send>) -> String {
    let text = text_of(&*payload).expect("a payload of text");
    text.strip_prefix(MEANT).unwrap_or(text).to_owned()
}
