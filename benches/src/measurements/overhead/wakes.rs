//! What wakes cost, with the poll that follows: on the same thread; from another thread; and in storms of duplicates, when
//! other threads wake one task as often as they can.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::hint;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;

use super::arm::{NO_BUSY_REMOTE_WAKES, NO_REMOTE_WAKES, NO_STORMS, NO_WAKERS};
use super::measure::{Column, Measure, ROUNDS};
use super::options::{Options, Section};
use crate::arms::runner::{Job, Runner};
use crate::harness::{Pinning, Rounds, Side};
use crate::stopwatch::{Stopwatch, Wait, now, wait_until};
use crate::workload::self_waking::SelfWaking;

pub(super) fn local(options: &Options) -> Measure {
    let (hops, rounds) = if options.common.quick { (100, 5) } else { (50_000, 200) };
    let fan_out = FanOut { waiters: 1_000, rounds };
    let columns = [
        Column::each("oneshot hop", PingPong(hops), hops).without(NO_WAKERS),
        Column::each("fan-out 1 → 1,000", fan_out, fan_out.waiters * rounds).without(NO_WAKERS),
    ];
    let quantity = &[("ns_per_local_wake", "Wakes on the same thread, and the poll: ns per wake")];
    Measure::of_executors(Section::Wake, quantity, options, columns)
}

/// Two tasks that answer each other so many times in all. The channels are made before the time starts.
struct PingPong(usize);

impl Job for PingPong {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let round = |_| {
            let (to_pong, from_ping) = oneshot::channel::<()>();
            let (to_ping, from_pong) = oneshot::channel::<()>();
            ((to_pong, from_pong), (to_ping, from_ping))
        };
        let (ping, pong): (Vec<_>, Vec<_>) = (0..self.0 / 2).map(round).unzip();
        let watch = Stopwatch::start();
        runner.block_on(async {
            let ping = runner.spawn(0, async move {
                for (send, receive) in ping {
                    let _ = send.send(());
                    let _ = receive.await;
                }
            });
            let pong = runner.spawn(0, async move {
                for (send, receive) in pong {
                    let _ = receive.await;
                    let _ = send.send(());
                }
            });
            ping.await;
            pong.await;
        });
        vec![watch.nanos()]
    }
}

#[derive(Clone, Copy)]
pub(super) struct FanOut {
    pub(super) waiters: usize,
    pub(super) rounds: usize,
}

impl Job for FanOut {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let wakers = || RefCell::new(Vec::with_capacity(self.waiters));
        let (waiting, spare) = (wakers(), wakers());
        let (rung, ringer) = (Cell::new(0), Cell::default());
        let bell = Rc::new(Bell { setup: *self, waiting, spare, rung, ringer });
        let mut handles = Vec::with_capacity(self.waiters);
        let watch = Stopwatch::start();
        runner.block_on(async {
            let wait = |_| {
                let bell = bell.clone();
                runner.spawn(0, poll_fn(move |cx| bell.wait(cx)))
            };
            handles.extend((0..self.waiters).map(wait));
            let ringer = bell.clone();
            runner.spawn(0, poll_fn(move |cx| ringer.ring(cx))).await;
            for handle in handles.drain(..) {
                handle.await;
            }
        });
        vec![watch.nanos()]
    }
}

struct Bell {
    setup: FanOut,
    waiting: RefCell<Vec<Waker>>,
    spare: RefCell<Vec<Waker>>,
    rung: Cell<usize>,
    ringer: Cell<Option<Waker>>,
}

impl Bell {
    fn wait(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.rung.get() == self.setup.rounds {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.borrow_mut();
        waiting.push(cx.waker().clone());
        if waiting.len() == self.setup.waiters {
            self.ringer.take().into_iter().for_each(Waker::wake);
        }
        Poll::Pending
    }

    fn ring(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.waiting.borrow().len() < self.setup.waiters {
            self.ringer.set(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        self.rung.set(self.rung.get() + 1);
        self.ringer.set(Some(cx.waker().clone()));
        self.waiting.swap(&self.spare);
        self.spare.borrow_mut().drain(..).for_each(Waker::wake);
        if self.rung.get() == self.setup.rounds { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Long enough for every arm to have gone to sleep.
const UNTIL_PARKED: Duration = Duration::from_micros(100);

/// An arm that needs longer for all wakes of a sample, because it is slow to wake up, gets fewer.
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// glommio looks after foreign wakes every 100 ms, and must not be taken for dead.
const LOST_AFTER: Duration = Duration::from_secs(2);

/// In a storm, a target that has not been polled after this is asleep for good.
const LOST_IN_STORM_AFTER: Duration = Duration::from_millis(500);

const BUSY_TASKS: usize = 100;

pub(super) fn remote(options: &Options, pinning: &Pinning) -> Measure {
    let quantities = &[
        (
            "remote_wake_sender_ns",
            "Wake from another thread: ns for the sender (median, with one clock reading)",
        ),
        ("remote_wake_p50_ns", "Wake from another thread: ns until the poll, p50"),
        ("remote_wake_p99_ns", "Wake from another thread: ns until the poll, p99"),
    ];
    let wakes = if options.common.quick { 20 } else { 1_000 };
    let exchange = |company| Exchange { company, wakes, pinning: pinning.clone() };
    let columns = [
        Column::of("host busy", exchange(BUSY_TASKS)).without(NO_BUSY_REMOTE_WAKES),
        Column::of("host parked", exchange(0)).without(NO_REMOTE_WAKES),
    ];
    Measure::of_executors(Section::Wake, quantities, options, columns)
}

/// Storms from 1 to 4 threads, which share the core that the measured thread does not use.
pub(super) fn storms(options: &Options, pinning: &Pinning) -> Measure {
    let quantities = &[
        ("ns_per_storm_wake", "Wake storms: ns per wake, all senders on one core"),
        ("polls_per_storm_wake", "Wake storms: polls per wake"),
        ("lost_wakes", "Wake storms: times the target slept on after the last wake, and was woken again"),
    ];
    let wakes = if options.common.quick { 100 } else { 50_000 };
    let titles = [(1, "1 thread"), (2, "2 threads"), (3, "3 threads"), (4, "4 threads")];
    let columns = titles.map(|(threads, title)| {
        Column::of(title, Storm { threads, wakes, pinning: pinning.clone() }).without(NO_STORMS)
    });
    Measure::of_executors(Section::Wake, quantities, options, columns).with(Rounds { usual: 15, ..ROUNDS })
}

struct Exchange {
    company: usize,
    wakes: u64,
    pinning: Pinning,
}

impl Job for Exchange {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
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
        let (mut costs, mut delays) = sender.join().expect("the sender does not panic");
        vec![quantile(&mut costs, 0.5), quantile(&mut delays, 0.5), quantile(&mut delays, 0.99)]
    }
}

fn quantile(nanos: &mut [u64], part: f64) -> f64 {
    nanos.sort_unstable();
    nanos[((nanos.len() - 1) as f64 * part).round() as usize] as f64
}

/// Waits until `done`, and wakes a task that does not get there in `patience`, as its wake seems to be lost; how often. It
/// spins, and now and then gives the core away in case it is the only one.
fn wake_until(done: impl Fn() -> bool, waker: &Waker, patience: Duration) -> u32 {
    for lost in 0.. {
        let watch = Stopwatch::start();
        while watch.elapsed() < patience {
            for _ in 0..10_000 {
                if done() {
                    return lost;
                }
                hint::spin_loop();
            }
            thread::yield_now();
        }
        waker.wake_by_ref();
    }
    unreachable!("it is woken up to four billion times")
}

const OVER: u64 = u64::MAX;

#[derive(Default)]
struct Line {
    sent: AtomicU64,
    seen: AtomicU64,
    over: AtomicBool,
}

impl Line {
    /// Wakes the receiver again and again, each time when it has been polled, and unless the host is busy is asleep again. The
    /// nanoseconds that each wake took here, and until the poll.
    fn send(&self, waker: &Waker, wakes: u64, busy: bool) -> (Vec<u64>, Vec<u64>) {
        // A lost wake is in the p99.
        let wake_until_seen =
            |number| wake_until(|| self.seen.load(Ordering::Acquire) == number, waker, LOST_AFTER);
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
                wake_until_seen(number);
                ((sent - begin).as_nanos() as u64, begin.elapsed().as_nanos() as u64)
            })
            .unzip();
        self.over.store(true, Ordering::Release);
        waker.wake_by_ref();
        wake_until_seen(OVER);
        times
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

struct Storm {
    threads: usize,
    wakes: u64,
    pinning: Pinning,
}

impl Job for Storm {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let target = Arc::new(Target { left: AtomicUsize::new(self.threads), ..Target::default() });
        let ((wakers, polled), woken) = (mpsc::channel(), target.clone());
        let (eye, threads, wakes) = (target.clone(), self.threads, self.wakes);
        let sender = self.pinning.thread(Side::Load, move || {
            let waker = polled.recv().expect("the task is polled");
            eye.storm(&waker, threads, wakes)
        });
        runner.block_on(async { runner.spawn(0, poll_fn(move |cx| woken.poll(cx, &wakers))).await });
        let (time, lost) = sender.join().expect("no sender panics");
        let wakes = (self.wakes * self.threads as u64) as f64;
        vec![time / wakes, target.polls.load(Ordering::Relaxed) as f64 / wakes, lost]
    }
}

#[derive(Default)]
struct Target {
    left: AtomicUsize,
    over: AtomicBool,
    polls: AtomicU64,
}

impl Target {
    /// Starts the senders when the target waits; gives the nanoseconds until the last of them is done, and how often the
    /// target had to be woken after that.
    fn storm(self: &Arc<Self>, waker: &Waker, threads: usize, wakes: u64) -> (f64, f64) {
        let start = Arc::new(Barrier::new(threads + 1));
        let sender = |_| {
            let (start, target, waker) = (start.clone(), self.clone(), waker.clone());
            thread::spawn(move || {
                start.wait();
                (0..wakes).for_each(|_| waker.wake_by_ref());
                target.left.fetch_sub(1, Ordering::Release);
                waker.wake();
            })
        };
        let senders: Vec<_> = (0..threads).map(sender).collect();
        let watch = Stopwatch::start();
        start.wait();
        senders.into_iter().for_each(|sender| sender.join().expect("no sender panics"));
        let time = watch.nanos();
        let lost = wake_until(|| self.over.load(Ordering::Acquire), waker, LOST_IN_STORM_AFTER);
        (time, lost.into())
    }

    fn poll(&self, cx: &mut Context<'_>, wakers: &mpsc::Sender<Waker>) -> Poll<()> {
        let before = self.polls.load(Ordering::Relaxed);
        self.polls.store(before + 1, Ordering::Relaxed);
        if self.left.load(Ordering::Acquire) == 0 {
            self.over.store(true, Ordering::Release);
            return Poll::Ready(());
        }
        if before == 0 {
            let _ = wakers.send(cx.waker().clone());
        }
        Poll::Pending
    }
}
