//! What a task's beginning and end cost.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::arm::{Arm, Need};
use super::measure::{Measure, Topic};
use super::options::Options;
use super::polls::spawn_and_join;
use super::section::Section;
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::stopwatch::{Stopwatch, nanos};
use crate::workload::self_waking::SelfWaking;

/// Spawn and join, spawn and detach, abort: all tasks at once.
pub(super) fn measure(options: &Options) -> Measure {
    let topic = Topic::new(Section::Spawn, &[("ns_per_task", "A task's beginning and end: ns per task")]);
    let columns = [("spawn and join", None), ("spawn and detach", None), ("abort", Some(Need::Abort))];
    let tasks = if options.common.quick { 500 } else { 100_000 };
    Measure::of_executors(&topic, options.arms(), columns, move |column, arm: Arm| {
        let all = match column {
            0 => arm.run(&Join(tasks)),
            1 => arm.run(&Detach(tasks)),
            _ => arm.run(&Abort(tasks)),
        };
        vec![all[0] / tasks as f64]
    })
}

struct Join(usize);

impl Job for Join {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        vec![nanos(spawn_and_join(&runner, self.0, || SelfWaking::new(0)))]
    }
}

/// From the first spawn until the last task has run.
struct Detach(usize);

impl Job for Detach {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let countdown = Countdown::from(self.0);
        let watch = Stopwatch::start();
        runner.block_on(async {
            for task in 0..self.0 {
                let countdown = countdown.clone();
                runner.spawn_detached(task, async move { countdown.step() });
            }
            countdown.await;
        });
        vec![nanos(watch.elapsed())]
    }
}

/// From the first abort of tasks that have been polled once until the last future has been dropped.
struct Abort(usize);

impl Job for Abort {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let (begun, dropped) = (Countdown::from(self.0), Countdown::from(self.0));
        let elapsed = runner.block_on(async {
            let victim =
                |task| runner.spawn(task, Victim { begun: Some(begun.clone()), dropped: dropped.clone() });
            let handles: Vec<_> = (0..self.0).map(victim).collect();
            begun.clone().await;
            one_turn().await;
            let watch = Stopwatch::start();
            handles.into_iter().for_each(R::abort);
            dropped.clone().await;
            watch.elapsed()
        });
        vec![nanos(elapsed)]
    }
}

/// Never ready.
struct Victim {
    begun: Option<Countdown>,
    dropped: Countdown,
}

impl Future for Victim {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        self.begun.take().iter().for_each(Countdown::step);
        Poll::Pending
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.dropped.step();
    }
}

/// Is ready after so many steps.
#[derive(Clone, Debug)]
pub struct Countdown(Rc<(Cell<usize>, RefCell<Option<Waker>>)>);

impl Countdown {
    /// With so many steps to go.
    pub fn from(steps: usize) -> Self {
        Countdown(Rc::new((Cell::new(steps), RefCell::default())))
    }

    /// One step less.
    pub fn step(&self) {
        let (left, waker) = &*self.0;
        left.set(left.get() - 1);
        if left.get() == 0 {
            let waker = waker.take();
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl Future for Countdown {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (left, waker) = &*self.0;
        if left.get() == 0 {
            return Poll::Ready(());
        }
        waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_wakes() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut countdown = Countdown::from(2);
        countdown.step();
        assert!(Pin::new(&mut countdown).poll(&mut cx).is_pending());
        countdown.step();
        assert!(Pin::new(&mut countdown).poll(&mut cx).is_ready());
    }

    #[test]
    fn aborts_end_with_the_last_future() {
        for arm in [Arm::LocalSet, Arm::WokenFirst, Arm::LocalExecutor, Arm::LocalPool, Arm::TaskLoop] {
            assert!(arm.run(&Abort(100))[0] > 0.0, "{}", arm.title());
        }
    }
}
