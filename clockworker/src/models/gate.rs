//! The gate before monoio, against wakes from other threads.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use super::wakes::{is_left, mark, mark_and_wake};
use super::{block_on, explore};
use crate::host::gate::{GatePoll, GatePoller};
use crate::sync::{Arc, thread, waker_of};

/// Two threads leave a mark and wake a future behind a gate; it sees both. A wake that came during a poll makes a turn more.
#[test]
fn a_wake_is_let_through_or_is_seen() {
    explore("gate/two_wakes", || {
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let mut poller = GatePoller::new();
        let waker = waker_of(Arc::clone(&poller.gate));
        let threads = marks.map(|mark| {
            let waker = waker.clone();
            thread::spawn(move || mark_and_wake(&mark, waker))
        });
        let future =
            poll_fn(
                move |_| if seen.iter().all(|mark| is_left(mark)) { Poll::Ready(()) } else { Poll::Pending },
            );
        let mut future = pin!(future);
        block_on(poll_fn(|cx| {
            poller.register(cx.waker());
            poll_on(&mut poller, future.as_mut(), cx, &waker)
        }));
        drop(threads);
    });
}

/// Polls until there is no work left, as `with_timers` does after each detour through monoio's driver.
fn poll_on<F: Future>(
    poller: &mut GatePoller,
    mut future: Pin<&mut F>,
    cx: &mut Context<'_>,
    waker: &std::task::Waker,
) -> Poll<F::Output> {
    loop {
        match poller.gate.poll(future.as_mut(), waker) {
            Poll::Ready(GatePoll::Done(output)) => return Poll::Ready(output),
            Poll::Ready(GatePoll::WorkLeft) => poller.register(cx.waker()),
            Poll::Pending => return Poll::Pending,
        }
    }
}
