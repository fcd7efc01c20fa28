//! What a wake from another thread costs: its sender, and until the task is polled.

use std::future::Future;
use std::hint;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use super::arm::{Arm, Need};
use super::measure::{Measure, Topic};
use super::options::Options;
use super::section::Section;
use super::waker_slot::WakerSlot;
use crate::arms::runner::{Job, Runner};
use crate::harness::pinning::{Pinning, Side};
use crate::stopwatch::{Stopwatch, Wait, now, wait_until};
use crate::workload::self_waking::SelfWaking;

/// Long enough for every arm to have gone to sleep.
const UNTIL_PARKED: Duration = Duration::from_micros(100);

/// An arm that needs longer for all wakes of a sample, because it is slow to wake up, gets fewer.
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// glommio looks after foreign wakes every 100 ms, and must not be taken for dead.
const LOST_AFTER: Duration = Duration::from_secs(2);

/// The column in which the host is not parked.
const BUSY: usize = 0;

/// Tasks that keep a busy host busy.
const BUSY_TASKS: usize = 100;

/// Wakes of one task from another thread, while the host is busy and while it is parked.
pub(super) fn measure(options: &Options, pinning: &Pinning) -> Measure {
    let topic = Topic::new(
        Section::Wake,
        &[
            (
                "remote_wake_sender_ns",
                "Wake from another thread: ns for the sender (median, with one clock reading)",
            ),
            ("remote_wake_p50_ns", "Wake from another thread: ns until the poll, p50"),
            ("remote_wake_p99_ns", "Wake from another thread: ns until the poll, p99"),
        ],
    );
    let columns = [("host busy", Some(Need::BusyRemoteWakes)), ("host parked", Some(Need::RemoteWakes))];
    let (wakes, pinning) = (if options.common.quick { 20 } else { 1_000 }, pinning.clone());
    let sample =
        move |column, arm: Arm| arm.run(&Exchange { busy: column == BUSY, wakes, pinning: pinning.clone() });
    Measure::of_executors(&topic, options.arms(), columns, sample)
}

struct Exchange {
    busy: bool,
    wakes: u64,
    pinning: Pinning,
}

impl Job for Exchange {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let line = Arc::new(Line::default());
        let sender = self.sender(line.clone());
        runner.block_on(async {
            let receiver = runner.spawn(0, Receiver(line.clone()));
            let busy = if self.busy { BUSY_TASKS } else { 0 };
            let company: Vec<_> = (0..busy).map(|_| runner.spawn(0, Company(line.clone()))).collect();
            receiver.await;
            for task in company {
                task.await;
            }
        });
        let (mut costs, mut delays) = sender.join().expect("the sender does not panic");
        vec![quantile(&mut costs, 0.5), quantile(&mut delays, 0.5), quantile(&mut delays, 0.99)]
    }
}

impl Exchange {
    /// Wakes the receiver again and again, each time when it has been polled, and if need be is asleep again.
    fn sender(&self, line: Arc<Line>) -> thread::JoinHandle<(Vec<u64>, Vec<u64>)> {
        let (pinning, busy, wakes) = (self.pinning.clone(), self.busy, self.wakes);
        thread::spawn(move || {
            pinning.pin(Side::Load);
            let waker = line.waker.take();
            let watch = Stopwatch::start();
            let timely = (1..=wakes).take_while(|&number| number == 1 || watch.elapsed() < TIME_LIMIT);
            let times = timely
                .map(|number| {
                    if !busy {
                        wait_until(now() + UNTIL_PARKED, Wait::SleepThenSpin);
                    }
                    let begin = now();
                    line.sent.store(number, Ordering::Release);
                    waker.wake_by_ref();
                    let sent = now();
                    while !spin_until(|| line.seen.load(Ordering::Acquire) == number) {
                        waker.wake_by_ref();
                    }
                    ((sent - begin).as_nanos() as u64, begin.elapsed().as_nanos() as u64)
                })
                .unzip();
            line.over.store(true, Ordering::Release);
            waker.wake_by_ref();
            while !spin_until(|| line.seen.load(Ordering::Acquire) == OVER) {
                waker.wake_by_ref();
            }
            times
        })
    }
}

fn quantile(nanos: &mut [u64], part: f64) -> f64 {
    nanos.sort_unstable();
    nanos[((nanos.len() - 1) as f64 * part).round() as usize] as f64
}

/// Spins, and now and then gives the core away in case it is the only one. Gives up if a wake seems to be lost: whoever
/// waits that long sees it in the p99, but the run goes on.
fn spin_until(done: impl Fn() -> bool) -> bool {
    let watch = Stopwatch::start();
    while watch.elapsed() < LOST_AFTER {
        for _ in 0..10_000 {
            if done() {
                return true;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
    false
}

/// What the receiver has seen in the end.
const OVER: u64 = u64::MAX;

/// What sender and receiver share.
#[derive(Debug, Default)]
struct Line {
    sent: AtomicU64,
    seen: AtomicU64,
    over: AtomicBool,
    waker: WakerSlot,
}

struct Receiver(Arc<Line>);

impl Future for Receiver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Line { sent, seen, over, waker } = &*self.0;
        if over.load(Ordering::Acquire) {
            seen.store(OVER, Ordering::Release);
            return Poll::Ready(());
        }
        let number = sent.load(Ordering::Acquire);
        if number == 0 {
            waker.put(cx.waker());
            return Poll::Pending;
        }
        seen.store(number, Ordering::Release);
        Poll::Pending
    }
}

/// Keeps the host busy until the exchange is over.
struct Company(Arc<Line>);

impl Future for Company {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.over.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        Pin::new(&mut SelfWaking::new(1)).poll(cx)
    }
}
