//! Tasks that wake each other in turn, one at a time.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

#[derive(Debug)]
pub struct Relay {
    wakers: RefCell<Vec<Option<Waker>>>,
    made: Cell<usize>,
    waiting: Cell<usize>,
    left: Cell<u64>,
    watcher: RefCell<Option<Waker>>,
}

impl Relay {
    pub fn new(runners: usize, hops: u64) -> Rc<Self> {
        let wakers = RefCell::new(vec![None; runners]);
        let (made, waiting) = (Cell::new(0), Cell::new(0));
        Rc::new(Relay { wakers, made, waiting, left: Cell::new(hops), watcher: RefCell::default() })
    }

    /// The future of the next runner. The token goes round in the order in which they were made.
    pub fn runner(self: &Rc<Self>) -> Runner {
        let place = self.made.replace(self.made.get() + 1);
        Runner { relay: self.clone(), place, waits: false }
    }

    pub fn ready(&self) -> impl Future<Output = ()> + '_ {
        self.watch(|relay| relay.waiting.get() == relay.wakers.borrow().len())
    }

    /// Starts the token; is ready when all hops are done.
    pub fn run(&self) -> impl Future<Output = ()> + '_ {
        self.wake(0);
        self.watch(|relay| relay.left.get() == 0)
    }

    fn watch(&self, done: impl Fn(&Self) -> bool) -> impl Future<Output = ()> {
        std::future::poll_fn(move |cx| {
            self.watcher.replace(Some(cx.waker().clone()));
            if done(self) { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    fn wake(&self, place: usize) {
        self.wakers.borrow()[place].iter().for_each(Waker::wake_by_ref);
    }

    fn tell(&self) {
        let watcher = self.watcher.take();
        watcher.into_iter().for_each(Waker::wake);
    }
}

#[derive(Debug)]
pub struct Runner {
    relay: Rc<Relay>,
    place: usize,
    waits: bool,
}

impl Future for Runner {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let relay = self.relay.clone();
        if !self.waits {
            self.waits = true;
            relay.wakers.borrow_mut()[self.place] = Some(cx.waker().clone());
            relay.waiting.set(relay.waiting.get() + 1);
            relay.tell();
            return Poll::Pending;
        }
        relay.left.set(relay.left.get() - 1);
        if relay.left.get() == 0 {
            relay.tell();
        } else {
            let runners = relay.made.get();
            relay.wake((self.place + 1) % runners);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::clockworker::ManyQueues;
    use crate::arms::runner::{Hosted, Runner as _};

    #[test]
    fn every_hop_is_a_poll() {
        let host = Hosted::new(ManyQueues::new(3, clockworker::DEFAULT_REQUEST));
        let relay = Relay::new(30, 300);
        host.block_on(async {
            (0..30).for_each(|task| host.spawn_detached(task, relay.runner()));
            relay.ready().await;
            relay.run().await;
        });
        assert_eq!(relay.left.get(), 0);
        assert!(host.contender().turns() >= 300, "every hop is to another queue");
    }
}
