//! Tasks that are ready all the time.

use clockworker::yield_now;

/// Yields for ever.
pub(crate) async fn never_rests() {
    loop {
        yield_now().await;
    }
}
