//! What wakes on the same thread cost, with the poll that follows.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::Notify;

use super::timed;
use crate::arms::{Arm, Job, Runner};
use crate::harness::Experiment;
use crate::stopwatch::Stopwatch;

pub(super) fn experiments(quick: bool) -> Vec<Experiment> {
    let (hops, rounds) = if quick { (100, 5) } else { (50_000, 200) };
    let by_notify = move |lanes| move |arm: Arm| arm.run(&NotifyHops { hops, lanes });
    let fan_out = FanOut { waiters: 1_000, rounds };
    let (can, wakes) = (Arm::has_wakers, fan_out.waiters * fan_out.rounds);
    vec![
        timed("hop", "in one queue", can, hops, by_notify([0, 0])),
        timed("hop", "between two queues", can, hops, by_notify([0, 1])),
        timed("wake", "1,000 tasks", can, wakes, move |arm| arm.run(&fan_out)),
    ]
}

/// Two tasks that wake each other in turn, so often in all.
#[derive(Clone, Copy, Debug)]
pub struct NotifyHops {
    pub hops: usize,
    /// Where the tasks are: in two queues, if the executor has two.
    pub lanes: [usize; 2],
}

impl Job for NotifyHops {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        let [ping, pong] = [(); 2].map(|()| Rc::new(Notify::new()));
        let times = self.hops / 2;
        let player = |own: &Rc<Notify>, other: &Rc<Notify>| {
            let (own, other) = (own.clone(), other.clone());
            async move {
                for _ in 0..times {
                    own.notified().await;
                    other.notify_one();
                }
            }
        };
        let watch = Stopwatch::start();
        runner.block_on(async {
            let first = runner.spawn(self.lanes[0], player(&ping, &pong));
            let second = runner.spawn(self.lanes[1], player(&pong, &ping));
            ping.notify_one();
            first.await;
            second.await;
        });
        watch.elapsed()
    }
}

/// A task wakes all others, each time that all of them wait.
#[derive(Clone, Copy, Debug)]
pub struct FanOut {
    pub waiters: usize,
    pub rounds: usize,
}

impl Job for FanOut {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
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
        watch.elapsed()
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
