//! Models: small programs of two or three threads, which loom runs in all orders, with all values that the orderings allow a load
//! to return. They run the real executor, whose [`sync`](crate::sync) is loom's here, with three checks more: a freed cell or
//! counter is not used, all its uses happen before the free, and it is freed.
//!
//! ```sh
//! RUSTFLAGS="--cfg clockworker_loom" cargo test -p clockworker --lib --profile hardened --features tokio models
//! ```
//!
//! RELIABILITY.md says what meets what in them, and what loom cannot see.

mod drops;
mod gate;
mod joins;
mod parking;
#[cfg(feature = "tokio")]
mod runs;
mod shared_refs;
// The models of `clockworker-observe` use it too, and more of it.
#[allow(dead_code, unsafe_code, unused_imports, reason = "memory that models look at after it was freed")]
pub(crate) mod sync;
mod wakes;

use std::future::Future;
use std::io::Write;
use std::panic;
use std::pin::{Pin, pin};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use crate::host::block_on;
use crate::sync::clear_graveyard;
use crate::{Executor, ManualClock};

/// What loom tries at most: switches of threads where the running one could go on. `LOOM_MAX_PREEMPTIONS` overrides it.
const PREEMPTIONS: usize = 2;

/// Tries `model` in all ways, and prints in how many.
pub(crate) fn explore(name: &'static str, model: impl Fn() + Send + Sync + 'static) {
    end_at_first_panic();
    let executions = std::sync::Arc::new(AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(PREEMPTIONS));
    builder.max_branches = builder.max_branches.max(20_000);
    builder.check(move || {
        clear_graveyard();
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    clear_graveyard();
    let executions = executions.load(Ordering::Relaxed);
    // Past the test harness, which keeps what is printed by tests that pass.
    let _ = writeln!(std::io::stdout(), "model {name}: {executions} executions");
}

/// The models have no panics of their own, so the first one is a finding. The process ends there: the executor would catch
/// a panic in user code, and loom cannot be unwound through.
fn end_at_first_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let model = std::thread::current().name().unwrap_or("a model").to_owned();
            let _ = writeln!(std::io::stdout(), "{model}: {info}");
            std::process::exit(101);
        }));
    });
}

/// An executor whose clock stands still: an execution must not depend on the time.
fn executor() -> Executor {
    Executor::builder().clock(ManualClock::new()).build().expect("the defaults are valid")
}

/// Polls an executor's run once, with a waker that does nothing, so that what is spawned has its first poll.
fn first_polls(ex: &Executor) {
    let mut polled = pin!(ex.run_until(std::future::pending::<()>()));
    assert!(polled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Polls once, with a waker that does nothing.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}
