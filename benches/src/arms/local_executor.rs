//! smol's LocalExecutor.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Contender;

/// smol's LocalExecutor.
#[derive(Debug, Default)]
pub struct LocalExecutor(smol::LocalExecutor<'static>);

/// smol's task, with a result as the others have it.
#[derive(Debug)]
pub struct Task(smol::Task<()>);

impl Future for Task {
    type Output = Result<(), Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(Ok)
    }
}

impl Contender for LocalExecutor {
    type Handle = Task;
    type Lost = Infallible;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Task {
        Task(self.0.spawn(task))
    }

    fn detach(handle: Task) {
        handle.0.detach();
    }

    fn abort(handle: Task) {
        drop(handle);
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.0.run(root)
    }
}
