//! Destructors that a test can see.

use std::future::pending;

/// Runs a closure when dropped.
pub(crate) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(crate) fn new(then: F) -> Self {
        Self(Some(then))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then();
        }
    }
}

/// A future that is pending for good and holds a value, which goes when it is dropped.
pub(crate) async fn hold<T>(value: T) {
    let _value = value;
    pending::<()>().await;
}
