//! What a wake on the same thread costs, with the poll that follows it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::channel::oneshot;

use super::arm::{Arm, Need};
use super::measure::{Measure, Topic};
use super::options::Options;
use super::section::Section;
use crate::arms::runner::{Job, Runner};
use crate::stopwatch::{Stopwatch, nanos};

/// The hop of a ping-pong over oneshot channels; the fan-out of one task to a thousand.
pub(super) fn measure(options: &Options) -> Measure {
    let title = "Wakes on the same thread, and the poll: ns per wake";
    let topic = Topic::new(Section::Wake, &[("ns_per_local_wake", title)]);
    let columns = ["oneshot hop", "fan-out 1 → 1,000"].map(|title| (title, Some(Need::Wakers)));
    let (hops, rounds) = if options.common.quick { (100, 5) } else { (50_000, 200) };
    let fan_out = FanOut { waiters: 1_000, rounds };
    Measure::of_executors(&topic, options.arms(), columns, move |column, arm: Arm| {
        let (all, wakes) = match column {
            0 => (arm.run(&PingPong(hops)), hops),
            _ => (arm.run(&fan_out), fan_out.wakes()),
        };
        vec![all[0] / wakes as f64]
    })
}

/// Two tasks that answer each other so many times in all. The channels are made before the time starts.
struct PingPong(usize);

impl Job for PingPong {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let (ping, pong) = sides(self.0 / 2);
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
        vec![nanos(watch.elapsed())]
    }
}

type Side = Vec<(oneshot::Sender<()>, oneshot::Receiver<()>)>;

fn sides(rounds: usize) -> (Side, Side) {
    let round = |_| {
        let ((to_pong, from_ping), (to_ping, from_pong)) = (oneshot::channel(), oneshot::channel());
        ((to_pong, from_pong), (to_ping, from_ping))
    };
    (0..rounds).map(round).unzip()
}

/// One task wakes many, again as soon as all of them wait.
#[derive(Clone, Copy, Debug)]
pub struct FanOut {
    /// How many.
    pub waiters: usize,
    /// How often.
    pub rounds: usize,
}

impl FanOut {
    /// Wakes of waiters in all.
    pub fn wakes(self) -> usize {
        self.waiters * self.rounds
    }
}

impl Job for FanOut {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let bell = Rc::new(Bell::new(*self));
        let mut handles = Vec::with_capacity(self.waiters);
        let watch = Stopwatch::start();
        runner.block_on(async {
            handles
                .extend((0..self.waiters).map(|_| runner.spawn(0, Waiter { bell: bell.clone(), heard: 0 })));
            runner.spawn(0, Ringer(bell.clone())).await;
            for handle in handles.drain(..) {
                handle.await;
            }
        });
        vec![nanos(watch.elapsed())]
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
    fn new(setup: FanOut) -> Self {
        let wakers = || RefCell::new(Vec::with_capacity(setup.waiters));
        Bell { setup, waiting: wakers(), spare: wakers(), rung: Cell::new(0), ringer: Cell::default() }
    }
}

struct Waiter {
    bell: Rc<Bell>,
    heard: usize,
}

impl Future for Waiter {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.heard = self.bell.rung.get();
        if self.heard == self.bell.setup.rounds {
            return Poll::Ready(());
        }
        let mut waiting = self.bell.waiting.borrow_mut();
        waiting.push(cx.waker().clone());
        if waiting.len() == self.bell.setup.waiters {
            self.bell.ringer.take().into_iter().for_each(Waker::wake);
        }
        Poll::Pending
    }
}

struct Ringer(Rc<Bell>);

impl Future for Ringer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let bell = &self.0;
        if bell.waiting.borrow().len() < bell.setup.waiters {
            bell.ringer.set(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        bell.rung.set(bell.rung.get() + 1);
        bell.ringer.set(Some(cx.waker().clone()));
        bell.waiting.swap(&bell.spare);
        bell.spare.borrow_mut().drain(..).for_each(Waker::wake);
        if bell.rung.get() == bell.setup.rounds { Poll::Ready(()) } else { Poll::Pending }
    }
}
