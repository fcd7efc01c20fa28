//! A server's background: tasks that would take all of its thread.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::tasks::Tasks;
use super::{Background, World};
use crate::random::{Purpose, Random};
use crate::serving::gate::Gate;

/// How many tasks of the background are ready at any time.
const READY: u64 = 8;

/// Spawns what the setup has of a background.
pub(super) fn start(world: &World, tasks: &Tasks) {
    let Some(background) = &world.setup.background else { return };
    for number in 0..READY {
        if background.self_waking {
            let mut work = Work::new(world, background, number);
            tasks.background(poll_fn(move |cx| {
                if work.poll(cx).is_ready() {
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }));
            continue;
        }
        let pair = Rc::new(Pair::default());
        for side in 0..2 {
            let mut work = Work::new(world, background, number * 2 + side);
            let pair = pair.clone();
            tasks.background(poll_fn(move |cx| pair.poll(side as usize, &mut work, cx)));
        }
    }
}

/// The work of a task, a piece for each poll.
struct Work {
    gate: Arc<Gate>,
    random: Random,
    shortest: Duration,
    longest: Duration,
}

impl Work {
    fn new(world: &World, background: &Background, number: u64) -> Self {
        let random = Random::new(background.seed, Purpose::Work, number);
        let micros = |micros: u32| Duration::from_micros(micros.into());
        let (shortest, longest) = background.polls_us;
        Work { gate: world.gate.clone(), random, shortest: micros(shortest), longest: micros(longest) }
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.gate.poll_work(cx, || self.random.between(self.shortest, self.longest))
    }
}

/// Two tasks that take turns: whose turn it is, and how to wake each. monoio puts a task that wakes itself before all
/// others, and one that was woken by another task behind them.
#[derive(Default)]
struct Pair {
    turn: Cell<usize>,
    wakers: [RefCell<Option<Waker>>; 2],
}

impl Pair {
    fn poll(&self, side: usize, work: &mut Work, cx: &Context<'_>) -> Poll<()> {
        match &mut *self.wakers[side].borrow_mut() {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        if self.turn.get() == side && work.poll(cx).is_ready() {
            let other = 1 - side;
            self.turn.set(other);
            // One that has not been polled yet is going to be.
            self.wakers[other].borrow().iter().for_each(Waker::wake_by_ref);
        }
        Poll::Pending
    }
}
