//! Tasks that yield.

use clockworker::yield_now;

/// Yields so many times.
pub(crate) async fn yields(times: u32) {
    for _ in 0..times {
        yield_now().await;
    }
}
