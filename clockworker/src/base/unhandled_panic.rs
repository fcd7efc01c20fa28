//! What an executor does when a task panics.

/// What an executor does when one of its tasks panics.
///
/// Either way the panic is caught and goes to the task's [`JoinHandle`](crate::JoinHandle) too. The names are those of
/// tokio's type of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// Nothing: the other tasks go on, and the panic goes to the join handle only.
    #[default]
    Ignore,
    /// Cancels every task, refuses new ones, and panics in `run_until` or `block_on`, so that the panic of a task that is not
    /// awaited is not missed. No other task is polled in between.
    ShutdownRuntime,
}
