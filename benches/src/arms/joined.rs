//! A join handle for executors that bring none.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::workload::self_waking::SelfWaking;

#[derive(Debug)]
pub struct Joined(Rc<State>);

#[derive(Debug, Default)]
struct State {
    done: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

pub fn join(task: impl Future<Output = ()> + 'static) -> (impl Future<Output = ()> + 'static, Joined) {
    let state = Rc::new(State::default());
    let joined = Joined(state.clone());
    let task = async move {
        task.await;
        state.done.set(true);
        let waker = state.waker.take();
        waker.into_iter().for_each(Waker::wake);
    };
    (task, joined)
}

impl Future for Joined {
    type Output = Result<(), Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.0.done.get() {
            return Poll::Ready(Ok(()));
        }
        let mut waker = self.0.waker.borrow_mut();
        match &mut *waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

/// Is ready when its task has been polled once more: by way of its executor's queue.
pub fn one_turn() -> SelfWaking {
    SelfWaking::new(1)
}
