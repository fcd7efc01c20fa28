//! A future that is nothing but polls.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Wakes itself and returns `Pending` a given number of times, then is ready: `yields + 1` polls that do no work.
///
/// It calls nothing of any runtime. In particular it is not [`tokio::task::yield_now`], which keeps the waker
/// back until tokio has been to its drivers and so measures those.
#[derive(Debug)]
pub struct SelfWaking {
    left: u32,
}

impl SelfWaking {
    pub fn new(yields: u32) -> Self {
        SelfWaking { left: yields }
    }
}

impl Future for SelfWaking {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(()) };
        self.left = left;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn one_wake_per_yield_and_one_poll_more() {
        for yields in [0, 1, 5] {
            let wakes = Arc::new(Wakes(AtomicU32::new(0)));
            let waker = wakes.clone().into();
            let mut future = pin!(SelfWaking::new(yields));
            for polls in 1..=yields {
                assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                assert_eq!(wakes.0.load(Ordering::Relaxed), polls);
            }
            assert!(future.poll(&mut Context::from_waker(&waker)).is_ready());
            assert_eq!(wakes.0.load(Ordering::Relaxed), yields);
        }
    }
}
