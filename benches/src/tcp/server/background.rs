//! A server's background: tasks that would take all of its thread.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::World;
use super::spawn::Spawn;
use crate::random::{Purpose, Random};
use crate::tcp::setup::Background;
use crate::workload::spin;

/// How many tasks of the background are ready at any time.
const READY: u64 = 8;

/// Lets the background run or rest, from another thread. It rests at first.
#[derive(Debug, Default)]
pub struct Gate {
    open: AtomicBool,
    /// Polls so far; written by the server's thread only.
    polls: AtomicU64,
    resting: Mutex<Vec<Waker>>,
}

impl Gate {
    /// Lets the background run.
    pub fn open(&self) {
        let resting = {
            let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
            self.open.store(true, Ordering::Relaxed);
            mem::take(&mut *resting)
        };
        resting.into_iter().for_each(Waker::wake);
    }

    /// Lets it rest, after the poll under way.
    pub fn shut(&self) {
        let _resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        self.open.store(false, Ordering::Relaxed);
    }

    /// Polls so far.
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Waits until the background may run.
    pub async fn admitted(&self) {
        poll_fn(|cx| if self.admits(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Whether a task may run; it is woken later if not.
    fn admits(&self, cx: &Context<'_>) -> bool {
        if self.open.load(Ordering::Relaxed) {
            return true;
        }
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have been opened meanwhile, but not while it is locked.
        let open = self.open.load(Ordering::Relaxed);
        if !open {
            resting.push(cx.waker().clone());
        }
        open
    }

    /// Counts a poll, or whatever the background's work is counted in.
    pub fn count(&self) {
        // One writer: a load and a store do.
        self.polls.store(self.polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

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
