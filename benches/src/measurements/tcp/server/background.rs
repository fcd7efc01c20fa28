//! A server's background: tasks that would take all of its thread.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::World;
use super::spawn::Spawn;
use crate::measurements::tcp::setup::Background;
use crate::random::{Purpose, Random};
use crate::serving::gate::Gate;
use crate::workload::spin;

/// How many tasks of the background are ready at any time.
const READY: u64 = 8;

/// Spawns what the setup has of a background.
pub(super) fn start(world: &World<'_>, spawner: &impl Spawn) {
    let Some(background) = &world.setup.background else { return };
    for number in 0..READY {
        if background.self_waking {
            spawner.background(Work::new(background, number, &world.gate));
            continue;
        }
        let pair = Rc::new(Pair::default());
        for side in 0..2 {
            let work = Work::new(background, number * 2 + side, &world.gate);
            spawner.background(Sharing { work, pair: pair.clone(), side: side as usize });
        }
    }
}

/// A task that wakes itself after each poll.
struct Work {
    gate: Arc<Gate>,
    background: Background,
    random: Random,
}

impl Work {
    fn new(background: &Background, number: u64, gate: &Arc<Gate>) -> Self {
        let random = Random::new(background.seed, Purpose::Work, number);
        Work { gate: gate.clone(), background: background.clone(), random }
    }

    fn work(&mut self) {
        spin::burn(self.random.between(self.background.shortest, self.background.longest));
        self.gate.count();
    }
}

impl Future for Work {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.gate.admits(cx) {
            self.work();
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Whose turn it is of two tasks, and how to wake each.
#[derive(Default)]
struct Pair {
    turn: Cell<usize>,
    wakers: [RefCell<Option<Waker>>; 2],
}

/// One of two tasks that take turns. monoio puts a task that wakes itself before all others, and one that was woken by
/// another task behind them.
struct Sharing {
    work: Work,
    pair: Rc<Pair>,
    side: usize,
}

impl Future for Sharing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        match &mut *this.pair.wakers[this.side].borrow_mut() {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        if this.pair.turn.get() != this.side || !this.work.gate.admits(cx) {
            return Poll::Pending;
        }
        this.work.work();
        let other = 1 - this.side;
        this.pair.turn.set(other);
        // One that has not been polled yet is going to be.
        this.pair.wakers[other].borrow().iter().for_each(Waker::wake_by_ref);
        Poll::Pending
    }
}
