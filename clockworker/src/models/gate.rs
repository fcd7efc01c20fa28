//! The gate before monoio, against wakes from other threads.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use super::wakes::{is_left, mark, mark_and_wake};
use super::{block_on, explore};
use crate::host::gate::{Shut, Turn};
use crate::sync::{Arc, thread, waker_of};

/// Two threads leave a mark and wake a future behind a gate; it sees both. A wake that came during a poll makes a turn more.
#[test]
fn a_wake_is_let_through_or_is_seen() {
    explore("gate/two_wakes", || {
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let mut shut = Shut::new();
        let waker = waker_of(Arc::clone(&shut.gate));
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
            shut.register(cx.waker());
            turns(&mut shut, future.as_mut(), cx, &waker)
        }));
        drop(threads);
    });
}

/// Turns until there is no work left: what the detour through monoio's driver comes to.
fn turns<F: Future>(
    shut: &mut Shut,
    mut future: Pin<&mut F>,
    cx: &mut Context<'_>,
    waker: &std::task::Waker,
) -> Poll<F::Output> {
    loop {
        match shut.gate.poll(future.as_mut(), waker) {
            Poll::Ready(Turn::Done(output)) => return Poll::Ready(output),
            Poll::Ready(Turn::WorkLeft) => shut.register(cx.waker()),
            Poll::Pending => return Poll::Pending,
        }
    }
}
