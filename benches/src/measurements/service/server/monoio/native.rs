//! As a program for monoio has it.

mod imports {
    pub(super) use monoio::spawn as spawn_local;

    /// monoio has no yield of its own, and puts a task that wakes itself before all others, which then starve. One that
    /// waits for another task goes behind them.
    pub(super) async fn yield_now() {
        monoio::spawn(async {}).await;
    }
}

#[path = "program.rs"]
pub(super) mod program;
