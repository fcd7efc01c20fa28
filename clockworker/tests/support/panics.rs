//! Panics that a test means to happen: kept out of its output, and read; and what panics.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::thread;

use clockworker::JoinError;

use super::{HookedWaker, OnDrop, WakerCall};

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
    static PLACE: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
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

/// What a closure gives, or what it panics with, without the mark.
pub(crate) fn caught<T>(then: impl FnOnce() -> T) -> Result<T, String> {
    quietly(|| catch_unwind(AssertUnwindSafe(then))).map_err(said)
}

/// What a closure panics with, as it must.
#[track_caller]
pub(crate) fn complaint_of<T>(then: impl FnOnce() -> T) -> String {
    caught(then).err().expect("it panics")
}

/// The file and line at which a closure panics, as it must.
#[track_caller]
pub(crate) fn place_of_panic<T>(then: impl FnOnce() -> T) -> (String, u32) {
    complaint_of(then);
    PLACE.take().expect("the hook has noted it")
}

/// What the panic of a task said.
#[track_caller]
pub(crate) fn panic_of<T>(result: Result<T, JoinError>) -> String {
    match result {
        Ok(_) => panic!("the task gave an output"),
        Err(error) => said(error.into_panic()),
    }
}

/// Panics with that text when dropped.
pub(crate) fn bomb(text: &'static str) -> OnDrop<impl FnOnce() + Send + 'static> {
    OnDrop::new(move || panic_as_meant(text))
}

/// A waker that panics with "the waker" at the first call of each of these.
pub(crate) fn bad_waker(calls: &[WakerCall]) -> HookedWaker {
    calls.iter().fold(HookedWaker::default(), |hooked, &at| hooked.on(at, || panic_as_meant("the waker")))
}

/// Runs a case of a test. If it fails, its name follows the panic.
#[track_caller]
pub(crate) fn case(name: impl Display, then: impl FnOnce()) {
    let passed = catch_unwind(AssertUnwindSafe(then)).is_ok();
    assert!(passed, "{name}: failed");
}
