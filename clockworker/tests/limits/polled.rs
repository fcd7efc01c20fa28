//! Waiters that a test polls by hand.

use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use clockworker::{Executor, JoinHandle, Queue, SpawnWhenRoom, TrySpawnError};

use crate::support::*;

pub(crate) type Waiter = SpawnWhenRoom<Pending<()>>;
type Answer = Result<JoinHandle<()>, TrySpawnError<Pending<()>>>;

pub(crate) fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// A waiter that a test polls, whose wakes are counted.
pub(crate) struct Polled {
    pub(crate) waiter: Waiter,
    pub(crate) wakes: Arc<CountingWaker>,
    waker: Waker,
}

impl Polled {
    pub(crate) fn new(waiter: Waiter) -> Self {
        let (wakes, waker) = CountingWaker::new();
        Self { waiter, wakes, waker }
    }

    /// One that has been polled, and waits.
    #[track_caller]
    pub(crate) fn waiting(waiter: Waiter) -> Self {
        let mut polled = Self::new(waiter);
        assert!(polled.poll().is_pending());
        polled
    }

    pub(crate) fn poll(&mut self) -> Poll<Answer> {
        poll(&mut self.waiter, &self.waker)
    }

    #[track_caller]
    pub(crate) fn answer(&mut self) -> Answer {
        match self.poll() {
            Poll::Ready(answer) => answer,
            Poll::Pending => panic!("it waits"),
        }
    }
}

pub(crate) fn wakes(waiters: &[Polled]) -> Vec<usize> {
    waiters.iter().map(|polled| polled.wakes.count()).collect()
}

/// A full queue, its tasks, and so many that wait.
pub(crate) fn full(ex: &Executor, live: usize, waiting: usize) -> (Queue, Vec<JoinHandle<()>>, Vec<Polled>) {
    let queue = ex.new_queue("full").max_live(live).create().unwrap();
    let tasks = (0..live).map(|_| queue.try_spawn(pending()).unwrap()).collect();
    settle(ex);
    let waiters = (0..waiting).map(|_| Polled::waiting(queue.spawn_when_room(pending()))).collect();
    (queue, tasks, waiters)
}

pub(crate) fn end(ex: &Executor, task: JoinHandle<()>) {
    task.abort();
    settle(ex);
}
