//! Models: small programs of two or three threads, which loom runs in all orders, with all values that the orderings allow a load
//! to return.
//!
//! ```sh
//! RUSTFLAGS="--cfg clockworker_loom" cargo test -p clockworker-observe --lib --profile hardened --features stalls models
//! ```

mod beacon;

use std::io::Write;
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sync::clear_graveyard;

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

/// The models have no panics of their own, so the first one is a finding. The process ends there: loom cannot be unwound through.
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
