//! futures' FuturesUnordered, for what has no executor.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::Contender;
use super::joined::{Joined, join};

/// Beside the root in one future. Tasks are boxed, as they must be where there are several kinds.
#[derive(Default)]
pub(super) struct Unordered(RefCell<FuturesUnordered<LocalBoxFuture<'static, ()>>>);

impl Contender for Unordered {
    type Handle = Joined;
    type Lost = Infallible;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Joined {
        let (task, joined) = join(task);
        self.0.borrow().push(Box::pin(task));
        joined
    }

    fn abort(_handle: Joined) {
        unreachable!("FuturesUnordered cannot abort");
    }

    async fn run_until<F: Future>(&self, root: F) -> F::Output {
        let mut root = pin!(root);
        poll_fn(|cx| {
            let output = root.as_mut().poll(cx);
            if output.is_pending() {
                let mut tasks = self.0.borrow_mut();
                while let Poll::Ready(Some(())) = tasks.poll_next_unpin(cx) {}
            }
            output
        })
        .await
    }
}
