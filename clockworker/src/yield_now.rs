//! Yielding inside a task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::run::context;

/// Lets other tasks run: returns `Pending` once, and is ready to be polled again at once.
///
/// Its scheduler decides when the task is polled again ([`Ready::Yielded`](crate::schedulers::Ready)):
/// [`WokenFirst`](crate::schedulers::WokenFirst), the default, polls it after all tasks that are ready now, and after those
/// that are woken later, within a bound. The first yield after a wake or a spawn counts as a wake: the task is polled after those that
/// are ready now. Works under any executor.
///
/// # Cancel safety
///
/// Dropping it loses nothing.
///
/// # Example
///
/// ```
/// let ex = clockworker::Executor::new();
/// ex.block_on(async {
///     let other = clockworker::spawn_local(async { "ran" });
///     clockworker::yield_now().await;
///     assert!(other.is_finished());
/// });
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// Lets other tasks run if this task's time is up, see [`should_yield`]; else goes on at once.
///
/// # Example
///
/// ```
/// # let ex = clockworker::Executor::new();
/// # ex.block_on(async {
/// for chunk in [1, 2, 3].chunks(1) {
///     std::hint::black_box(chunk); // some microseconds of work
///     clockworker::yield_if_due().await;
/// }
/// # });
/// ```
pub fn yield_if_due() -> YieldIfDue {
    YieldIfDue { yielded: false }
}

/// Whether the task that is being polled should yield: its slice is over, its host is due, a queue woke up that is to be served
/// first, or another thread sent something. In the future given to `run_until`: whether the host is due.
///
/// Costs a clock reading and some loads, however many tasks were woken, and a step for each queue that woke up, up to 64. So a long
/// computation can ask every microsecond or so. False elsewhere.
pub fn should_yield() -> bool {
    context::with_current(|core| core.should_yield()).unwrap_or(false)
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct YieldNow {
    yielded: bool,
}

/// The future of [`yield_if_due`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct YieldIfDue {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        yield_once(&mut self.yielded, cx)
    }
}

impl Future for YieldIfDue {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded || should_yield() { yield_once(&mut self.yielded, cx) } else { Poll::Ready(()) }
    }
}

fn yield_once(yielded: &mut bool, cx: &mut Context<'_>) -> Poll<()> {
    if std::mem::replace(yielded, true) {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}
