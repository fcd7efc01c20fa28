//! What to do when a task panics.

/// What an executor does when one of its tasks panics.
///
/// Either way the panic is caught and goes to the task's [`JoinHandle`](crate::JoinHandle) too. The names are those of
/// tokio's type of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// Nothing: the others go on, and whoever awaits the join handle hears of it.
    #[default]
    Ignore,
    /// Cancels every task, refuses new ones, and panics in whoever runs the executor. So the panic of a task that nobody
    /// awaits is not missed. No other task is polled in between.
    ShutdownRuntime,
}
