//! A server's background: tasks that would take all of its thread.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use smol::future::yield_now;

use super::tasks::Tasks;
use super::{Setup, World};
use crate::random::{Purpose, Random};
use crate::serving::server::Gate;

const READY: u64 = 8;

pub(super) fn start(world: &World, tasks: &Tasks) {
    let Setup { polls_us: Some((shortest, longest)), self_waking, seed, .. } = world.setup else { return };
    let work = |number| Work {
        gate: world.gate.clone(),
        random: Random::new(seed, Purpose::Work, number),
        shortest: Duration::from_micros(shortest.into()),
        longest: Duration::from_micros(longest.into()),
    };
    for number in 0..READY {
        if self_waking {
            tasks.background(wake_oneself(work(number)));
        } else {
            let pair = Rc::new(Pair::default());
            tasks.background(take_turns(work(number * 2), pair.clone(), 0));
            tasks.background(take_turns(work(number * 2 + 1), pair, 1));
        }
    }
}

async fn wake_oneself(mut work: Work) {
    loop {
        work.piece().await;
        yield_now().await;
    }
}

/// monoio puts a task that wakes itself before all others, and one that was woken by another task behind them.
async fn take_turns(mut work: Work, pair: Rc<Pair>, side: usize) {
    loop {
        pair.turn_of(side).await;
        work.piece().await;
        pair.pass_to(1 - side);
    }
}

struct Work {
    gate: Arc<Gate>,
    random: Random,
    shortest: Duration,
    longest: Duration,
}

impl Work {
    async fn piece(&mut self) {
        self.gate.work(|| self.random.between(self.shortest, self.longest)).await;
    }
}

#[derive(Default)]
struct Pair {
    turn: Cell<usize>,
    wakers: [RefCell<Option<Waker>>; 2],
}

impl Pair {
    async fn turn_of(&self, side: usize) {
        poll_fn(|cx| {
            match &mut *self.wakers[side].borrow_mut() {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            if self.turn.get() == side { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// A task that has not been polled yet is going to be.
    fn pass_to(&self, side: usize) {
        self.turn.set(side);
        self.wakers[side].borrow().iter().for_each(Waker::wake_by_ref);
    }
}
