//! [`AbortOnDropHandle`]: a task that ends with its handle.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::task::{JoinError, JoinHandle};

/// Awaits a task as its [`JoinHandle`] does, and **aborts it when dropped**; [`detach`](AbortOnDropHandle::detach) gives the
/// handle back. As tokio-util's type of this name.
///
/// The abort is [`JoinHandle::abort`]: the executor drops the task's future in a later slice of its queue, not this drop.
///
/// # Cancel safety and panics
///
/// As [`JoinHandle`]: no output is lost if an await of `&mut handle` is dropped.
///
/// # Example
///
/// ```
/// use clockworker::AbortOnDropHandle;
///
/// let ex = clockworker::Executor::new();
/// let heartbeat = AbortOnDropHandle::new(ex.spawn(std::future::pending::<()>()));
/// drop(heartbeat);
/// ex.block_on(ex.drained());
/// assert_eq!(ex.stats().cancelled, 1);
/// ```
#[must_use = "dropping the handle aborts the task"]
pub struct AbortOnDropHandle<T>(
    /// None once it was given back.
    Option<JoinHandle<T>>,
);

impl<T> AbortOnDropHandle<T> {
    /// Aborts the task of that handle when this is dropped.
    pub fn new(handle: JoinHandle<T>) -> Self {
        Self(Some(handle))
    }

    /// Gives the handle back. Dropped, that lets the task go on.
    pub fn detach(mut self) -> JoinHandle<T> {
        match self.0.take() {
            Some(handle) => handle,
            None => unreachable!("it is taken once"),
        }
    }
}

impl<T> Deref for AbortOnDropHandle<T> {
    type Target = JoinHandle<T>;

    fn deref(&self) -> &JoinHandle<T> {
        match &self.0 {
            Some(handle) => handle,
            None => unreachable!("`detach` drops what it takes it from"),
        }
    }
}

impl<T> Future for AbortOnDropHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Some(handle) => Pin::new(handle).poll(cx),
            None => unreachable!("as above"),
        }
    }
}

impl<T> Drop for AbortOnDropHandle<T> {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

impl<T> fmt::Debug for AbortOnDropHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AbortOnDropHandle").field(&**self).finish()
    }
}
