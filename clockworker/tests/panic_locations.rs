//! A panic that is the caller's fault names the caller's line, not one of the executor's.

use std::cell::RefCell;
use std::future::{pending, ready};
use std::panic::{self, AssertUnwindSafe, Location, catch_unwind};
use std::pin::pin;
use std::sync::Once;
use std::task::{Context, Poll, Waker};

use clockworker::{Executor, spawn_local};

thread_local! {
    /// File and line of this thread's last panic.
    static LAST: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// Where a closure panics, in this file, which it must.
#[track_caller]
fn line_of_panic<T>(then: impl FnOnce() -> T) -> u32 {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let location = info.location().map(|at| (at.file().to_owned(), at.line()));
            LAST.set(location);
        }));
    });
    let caller = Location::caller();
    let caught = catch_unwind(AssertUnwindSafe(then));
    let (file, line) = LAST.take().unwrap_or_default();
    // Not by assertions: the hook keeps their messages to itself.
    match caught {
        Err(_) if file == file!() => line,
        Err(_) => give_up(caller, &format!("the panic was said to be at {file}:{line}")),
        Ok(_) => give_up(caller, "nothing panicked"),
    }
}

fn give_up(caller: &Location<'_>, why: &str) -> ! {
    drop(panic::take_hook());
    panic!("{caller}: {why}");
}

/// Compares lines. The hook hides what an assertion says, so it goes first.
#[track_caller]
fn assert_line(found: u32, expected: u32) {
    if found != expected {
        give_up(Location::caller(), &format!("line {found} instead of {expected}"));
    }
}

#[test]
fn spawn_local_outside_an_executor() {
    let here = line!() + 1;
    assert_line(line_of_panic(|| spawn_local(async {})), here);
    // An executor that there is, and that nobody runs, does not help.
    let _ex = Executor::new();
    let here = line!() + 1;
    assert_line(line_of_panic(|| spawn_local(async {})), here);
}

#[test]
fn the_payload_of_a_task_that_did_not_panic() {
    let ex = Executor::new();
    let task = ex.spawn(pending::<()>());
    task.abort();
    let error = ex.block_on(task).unwrap_err();
    let here = line!() + 1;
    assert_line(line_of_panic(|| error.into_panic()), here);
}

#[test]
fn a_tasks_own_panic() {
    let ex = Executor::new();
    let mut here = 0;
    let found = line_of_panic(|| {
        here = line!() + 1;
        let task = ex.spawn(async { panic!("here") });
        panic::resume_unwind(ex.block_on(task).map(|(): ()| ()).unwrap_err().into_panic());
    });
    assert_line(found, here);
}

#[test]
fn a_handle_that_is_polled_after_its_output_says_so() {
    let ex = Executor::new();
    let mut task = ex.spawn(ready(1));
    assert!(matches!(ex.block_on(&mut task), Ok(1)));
    let polled = catch_unwind(AssertUnwindSafe(|| {
        use std::future::Future;
        match pin!(&mut task).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result.is_ok(),
            Poll::Pending => false,
        }
    }));
    let payload = polled.unwrap_err();
    assert_eq!(*payload.downcast::<&'static str>().unwrap(), "`JoinHandle` polled after completion");
}

#[cfg(feature = "tokio")]
#[test]
fn blocking_in_a_runtime_of_tokio() {
    let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ex = Executor::new();
    rt.block_on(async {
        let here = line!() + 1;
        assert_line(line_of_panic(|| ex.block_on(ready(()))), here);
        let here = line!() + 1;
        assert_line(line_of_panic(|| ex.block_on_shutdown(ready(()))), here);
    });
}
