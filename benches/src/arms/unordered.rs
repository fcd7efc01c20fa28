//! futures' FuturesUnordered.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures::future::LocalBoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use super::Contender;
use super::joined::{Joined, join};

/// FuturesUnordered, beside the root in one future. Tasks are boxed, as they must be where there are several kinds.
#[derive(Default)]
pub struct Unordered(RefCell<FuturesUnordered<LocalBoxFuture<'static, ()>>>);

/// [`Joined`], with a result as the others have it.
#[derive(Debug)]
pub struct Handle(Joined);

impl Future for Handle {
    type Output = Result<(), Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(Ok)
    }
}

impl Contender for Unordered {
    type Handle = Handle;
    type Lost = Infallible;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Handle {
        let (task, joined) = join(task);
        self.0.borrow().push(Box::pin(task));
        Handle(joined)
    }

    fn abort(_handle: Handle) {
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

impl fmt::Debug for Unordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unordered").finish_non_exhaustive()
    }
}
