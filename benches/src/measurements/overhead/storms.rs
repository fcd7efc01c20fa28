//! Storms of duplicate wakes: threads that wake one task as often as they can.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use super::arm::{Arm, Need};
use super::measure::{Measure, Topic};
use super::options::Options;
use super::section::Section;
use super::waker_slot::WakerSlot;
use crate::arms::runner::{Job, Runner};
use crate::harness::pinning::{Pinning, Side};
use crate::stopwatch::{Stopwatch, nanos, now};

/// A target that has not been polled after this is asleep for good.
const LOST_AFTER: Duration = Duration::from_millis(500);

/// Storms from 1 to 4 threads, which share the core that the measured thread does not use.
pub(super) fn measure(options: &Options, pinning: &Pinning) -> Measure {
    let topic = Topic::new(
        Section::Wake,
        &[
            ("ns_per_storm_wake", "Wake storms: ns per wake, all senders on one core"),
            ("polls_per_storm_wake", "Wake storms: polls per wake"),
            ("lost_wakes", "Wake storms: times the target slept on after the last wake, and was woken again"),
        ],
    );
    let columns =
        ["1 thread", "2 threads", "3 threads", "4 threads"].map(|threads| (threads, Some(Need::Storms)));
    let (wakes, pinning) = (if options.common.quick { 100 } else { 50_000 }, pinning.clone());
    let sample =
        move |column, arm: Arm| arm.run(&Storm { threads: column + 1, wakes, pinning: pinning.clone() });
    Measure::of_executors(&topic, options.arms(), columns, sample).with_rounds(15)
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
        let (time, lost) = sender.join().expect("no sender panics");
        let wakes = (self.wakes * self.threads as u64) as f64;
        vec![time / wakes, eye.polls.load(Ordering::Relaxed) as f64 / wakes, lost]
    }
}

impl Storm {
    /// Starts the senders when the target waits; gives the nanoseconds until the last of them is done, and how often the
    /// target had to be woken after that.
    fn sender(&self, eye: Arc<Eye>) -> thread::JoinHandle<(f64, f64)> {
        let Storm { threads, wakes, pinning } = self;
        let (threads, wakes, pinning) = (*threads, *wakes, pinning.clone());
        thread::spawn(move || {
            pinning.pin(Side::Load);
            let waker = eye.waker.take();
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
            let time = nanos(watch.elapsed());
            (time, eye.wake_up(&waker))
        })
    }
}

/// What senders and target share.
#[derive(Debug, Default)]
struct Eye {
    left: AtomicUsize,
    over: AtomicBool,
    polls: AtomicU64,
    waker: WakerSlot,
}

impl Eye {
    /// Wakes the target until it is over; how often that took.
    fn wake_up(&self, waker: &Waker) -> f64 {
        for lost in 0.. {
            let moment = now() + LOST_AFTER;
            while now() < moment {
                if self.over.load(Ordering::Acquire) {
                    return f64::from(lost);
                }
                thread::yield_now();
            }
            waker.wake_by_ref();
        }
        unreachable!("it is woken up to four billion times")
    }
}

struct Target(Arc<Eye>);

impl Future for Target {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Eye { left, over, polls, waker } = &*self.0;
        let before = polls.load(Ordering::Relaxed);
        polls.store(before + 1, Ordering::Relaxed);
        if left.load(Ordering::Acquire) == 0 {
            over.store(true, Ordering::Release);
            return Poll::Ready(());
        }
        if before == 0 {
            waker.put(cx.waker());
        }
        Poll::Pending
    }
}
