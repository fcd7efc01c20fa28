//! A moment that tasks of all cores wait for.

use std::convert::Infallible;

use futures::channel::oneshot;
use futures::future::{FutureExt, Shared};

/// Gives notice when it is dropped.
pub(super) struct Post {
    _sender: oneshot::Sender<Infallible>,
}

/// Waits for a [`Post`] to be dropped. Clones wait for the same.
#[derive(Clone, Debug)]
pub(super) struct Notice(Shared<oneshot::Receiver<Infallible>>);

impl Post {
    pub(super) fn new() -> (Self, Notice) {
        let (sender, receiver) = oneshot::channel();
        (Self { _sender: sender }, Notice(receiver.shared()))
    }
}

impl Notice {
    pub(super) async fn given(&self) {
        let Err(oneshot::Canceled) = self.0.clone().await;
    }
}
