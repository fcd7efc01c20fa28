//! What wakes from another thread cost.

use std::future::poll_fn;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use super::sampled;
use crate::arms::{Arm, Job, Runner};
use crate::harness::{Experiment, Pinning, Sample, Side};
use crate::stopwatch::{Stopwatch, Wait, now, wait_until};
use crate::workload::self_waking::SelfWaking;

/// What a wake takes in the thread that wakes, with a clock reading: the median.
pub(super) const SENDER: &str = "sender.p50";
/// From before the wake until the poll.
pub(super) const DELAY_P50: &str = "delay.p50";
pub(super) const DELAY_P99: &str = "delay.p99";

/// Tasks that are runnable all the time, where the host is busy.
const BUSY_TASKS: usize = 100;

pub(super) fn experiments(quick: bool, pinning: &Pinning) -> Vec<Experiment> {
    let wakes = if quick { 20 } else { 1_000 };
    let exchange = |(title, company)| {
        let exchange = Exchange { company, wakes, pinning: pinning.clone() };
        sampled("thread", title, Arm::is_in_tokio, move |arm| arm.run(&exchange))
    };
    [("host busy", BUSY_TASKS), ("host parked", 0)].map(exchange).into()
}

/// A thread wakes a task again and again.
struct Exchange {
    company: usize,
    wakes: u64,
    pinning: Pinning,
}

impl Job for Exchange {
    type Found = Sample;

    fn run<R: Runner>(&self, runner: R) -> Sample {
        let (line, (wakers, polled)) = (Arc::new(Line::default()), mpsc::channel());
        let (sender, wakes, busy) = (line.clone(), self.wakes, self.company > 0);
        let sender = self.pinning.thread(Side::Load, move || {
            let waker = polled.recv().expect("the task is polled");
            sender.send(&waker, wakes, busy)
        });
        runner.block_on(async {
            let receiver = line.clone();
            let receiver = runner.spawn(0, poll_fn(move |cx| receiver.receive(cx, &wakers)));
            let keep_busy = |_| {
                let line = line.clone();
                runner.spawn(0, async move {
                    while !line.over.load(Ordering::Relaxed) {
                        SelfWaking::new(1).await;
                    }
                })
            };
            let company: Vec<_> = (0..self.company).map(keep_busy).collect();
            receiver.await;
            for task in company {
                task.await;
            }
        });
        let times = sender.join().expect("the sender does not panic");
        let (sender, delay): (Vec<_>, Vec<_>) =
            times.into_iter().map(|[sender, delay]| (Some(sender), Some(delay))).unzip();
        Sample::default().waits("sender", sender).waits("delay", delay)
    }
}

/// Long enough for every arm to have gone to sleep.
const UNTIL_PARKED: Duration = Duration::from_micros(100);

/// An arm that needs longer for all wakes of a sample, because it is slow to wake up, gets fewer.
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// A wake that has not led to a poll by then is taken for lost.
const LOST_AFTER: Duration = Duration::from_secs(2);

/// What the receiver has seen when it is about to end.
const OVER: u64 = u64::MAX;

#[derive(Default)]
struct Line {
    sent: AtomicU64,
    seen: AtomicU64,
    over: AtomicBool,
}

impl Line {
    /// Wakes the receiver again and again, each time when it has been polled, and unless the host is busy is asleep again. How
    /// long each wake took here, and until the poll.
    fn send(&self, waker: &Waker, wakes: u64, busy: bool) -> Vec<[Duration; 2]> {
        let watch = Stopwatch::start();
        let timely = (1..=wakes).take_while(|&number| number == 1 || watch.elapsed() < TIME_LIMIT);
        let times = timely
            .map(|number| {
                if !busy {
                    wait_until(now() + UNTIL_PARKED, Wait::SleepThenSpin);
                }
                let begin = now();
                self.sent.store(number, Ordering::Release);
                waker.wake_by_ref();
                let sent = now();
                self.wake_until_seen(number, waker);
                [sent - begin, now() - begin]
            })
            .collect();
        self.over.store(true, Ordering::Release);
        waker.wake_by_ref();
        self.wake_until_seen(OVER, waker);
        times
    }

    /// Waits until the receiver has seen this, and wakes it if it does not get there, as its wake seems to be lost: a lost wake
    /// is in the p99. It spins, and now and then gives the core away in case it is the only one.
    fn wake_until_seen(&self, number: u64, waker: &Waker) {
        loop {
            let watch = Stopwatch::start();
            while watch.elapsed() < LOST_AFTER {
                for _ in 0..10_000 {
                    if self.seen.load(Ordering::Acquire) == number {
                        return;
                    }
                    hint::spin_loop();
                }
                thread::yield_now();
            }
            waker.wake_by_ref();
        }
    }

    fn receive(&self, cx: &mut Context<'_>, wakers: &mpsc::Sender<Waker>) -> Poll<()> {
        if self.over.load(Ordering::Acquire) {
            self.seen.store(OVER, Ordering::Release);
            return Poll::Ready(());
        }
        match self.sent.load(Ordering::Acquire) {
            // The sender takes the first.
            0 => drop(wakers.send(cx.waker().clone())),
            number => self.seen.store(number, Ordering::Release),
        }
        Poll::Pending
    }
}
