//! monoio, plain and with Clockworker in it.

use std::future::Future;

use clockworker::Executor;

use crate::arms::monoio::Monoio;
use crate::arms::runner::Runner;

/// Runs `main` on monoio.
pub fn plain<F: Future>(main: F) -> F::Output {
    Monoio::default().block_on(main)
}

/// Runs `main` on Clockworker on monoio.
pub fn clockworker<F: Future>(main: F) -> F::Output {
    let executor = Executor::new();
    Monoio::default().block_on(executor.run_until(main))
}
