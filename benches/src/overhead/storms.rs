//! Storms of duplicate wakes: threads that wake one task as often as they can.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::arm::{Arm, Need};
use super::measure::{Measure, Quantity, Row, rows_of};
use super::polls::nanos;
use crate::arms::runner::{Job, Runner};
use crate::pinning::{Pinning, Side};
use crate::stopwatch::Stopwatch;

/// Storms from 1 to 4 threads, which share the core that the measured thread does not use.
#[derive(Debug)]
pub struct Storms {
    arms: Vec<Arm>,
    wakes: u64,
    pinning: Pinning,
}

impl Storms {
    /// On these arms.
    pub fn new(arms: Vec<Arm>, quick: bool, pinning: Pinning) -> Self {
        Storms { arms, wakes: if quick { 100 } else { 50_000 }, pinning }
    }
}

impl Measure for Storms {
    fn quantities(&self) -> Vec<Quantity> {
        vec![
            Quantity { key: "ns_per_storm_wake", title: "Wake storms: ns per wake, all senders on one core" },
            Quantity { key: "polls_per_storm_wake", title: "Wake storms: polls per wake" },
        ]
    }

    fn shapes(&self) -> Vec<String> {
        ["1 thread", "2 threads", "3 threads", "4 threads"].map(str::to_owned).to_vec()
    }

    fn rows(&self) -> Vec<Row> {
        rows_of(&self.arms)
    }

    fn rounds(&self) -> u32 {
        15
    }

    fn can(&self, _shape: usize, row: usize) -> bool {
        self.arms[row].has(Need::RemoteWakes)
    }

    fn sample(&self, shape: usize, row: usize) -> Vec<f64> {
        self.arms[row].run(&Storm { threads: shape + 1, wakes: self.wakes, pinning: self.pinning.clone() })
    }
}

struct Storm {
    threads: usize,
    wakes: u64,
    pinning: Pinning,
}

impl Job for Storm {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let eye = Arc::new(Eye { left: AtomicUsize::new(self.threads), ..Eye::default() });
        let sender = self.sender(eye.clone());
        runner.block_on(async { runner.spawn(0, Target(eye.clone())).await });
        let time = sender.join().expect("no sender panics");
        let wakes = (self.wakes * self.threads as u64) as f64;
        vec![time / wakes, eye.polls.load(Ordering::Relaxed) as f64 / wakes]
    }
}

impl Storm {
    /// Starts the senders when the target waits; gives the nanoseconds until the last of them is done.
    fn sender(&self, eye: Arc<Eye>) -> thread::JoinHandle<f64> {
        let Storm { threads, wakes, pinning } = self;
        let (threads, wakes, pinning) = (*threads, *wakes, pinning.clone());
        thread::spawn(move || {
            pinning.pin(Side::Load);
            let waker = eye.waker();
            let start = Arc::new(Barrier::new(threads + 1));
            let senders: Vec<_> = (0..threads)
                .map(|_| {
                    let (start, eye, waker) = (start.clone(), eye.clone(), waker.clone());
                    thread::spawn(move || {
                        start.wait();
                        (0..wakes).for_each(|_| waker.wake_by_ref());
                        eye.left.fetch_sub(1, Ordering::Release);
                        waker.wake();
                    })
                })
                .collect();
            let watch = Stopwatch::start();
            start.wait();
            senders.into_iter().for_each(|sender| sender.join().expect("no sender panics"));
            nanos(watch.elapsed())
        })
    }
}

/// What senders and target share.
#[derive(Debug, Default)]
struct Eye {
    left: AtomicUsize,
    polls: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Eye {
    fn waker(&self) -> Waker {
        loop {
            let waker = self.waker.lock().expect("nobody panics with it").take();
            if let Some(waker) = waker {
                return waker;
            }
            thread::yield_now();
        }
    }
}

struct Target(Arc<Eye>);

impl Future for Target {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Eye { left, polls, waker } = &*self.0;
        let before = polls.load(Ordering::Relaxed);
        polls.store(before + 1, Ordering::Relaxed);
        if left.load(Ordering::Acquire) == 0 {
            return Poll::Ready(());
        }
        if before == 0 {
            *waker.lock().expect("nobody panics with it") = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}
