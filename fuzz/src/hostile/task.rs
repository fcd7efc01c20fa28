//! The tasks: what they do at each poll is in the program.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::JoinHandle;

use super::world::World;
use crate::quiet::panic_as_meant;

/// Where a task is spawned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Hostile,
    Group(u64),
    Honest,
    /// Where the task is that spawns it.
    Beside,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    Panicked,
    Cancelled,
}

/// What is known of a task.
#[derive(Default)]
pub(super) struct Entry {
    /// It was woken since its last poll, or is new.
    pub(super) awake: Cell<bool>,
    /// Where it was woken, in this program.
    pub(super) woken_by: Cell<Option<&'static Location<'static>>>,
    pub(super) end: Cell<Option<End>>,
    pub(super) handle: RefCell<Option<JoinHandle<Output>>>,
    pub(super) waker: RefCell<Option<Waker>>,
    /// Who is woken when it ends.
    pub(super) joined_by: Cell<Option<usize>>,
    /// Polls in which it will do nothing but yield.
    yields: Cell<u32>,
    pub(super) hostile: Cell<bool>,
    /// Its spawn has returned.
    pub(super) spawned: Cell<bool>,
}

/// What a task gives; the outputs that exist are counted.
pub(super) struct Output {
    pub(super) index: usize,
    world: Rc<World>,
}

impl Output {
    fn new(index: usize, world: &Rc<World>) -> Self {
        world.outputs.set(world.outputs.get() + 1);
        Self { index, world: Rc::clone(world) }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.world.outputs.set(self.world.outputs.get() - 1);
    }
}

/// The future of a task.
pub(super) struct Scripted {
    pub(super) index: usize,
    pub(super) entry: Rc<Entry>,
    pub(super) world: Rc<World>,
}

impl Future for Scripted {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let this = &*self;
        let (entry, world) = (&this.entry, &this.world);
        assert_eq!(entry.end.get(), None, "polled after its end");
        assert!(entry.awake.replace(false), "polled without having been woken");
        if entry.hostile.get() {
            world.hostile_polls.set(world.hostile_polls.get() + 1);
        }
        let old = entry.waker.replace(Some(cx.waker().clone()));
        drop(old);
        if world.finishing.get() {
            return this.complete();
        }
        if let Some(left) = entry.yields.get().checked_sub(1) {
            entry.yields.set(left);
            return this.yield_now();
        }
        match world.program.try_next() {
            Some(step) => this.step(step, cx),
            None => this.complete(),
        }
    }
}

impl Scripted {
    fn step(&self, step: u8, cx: &mut Context<'_>) -> Poll<Output> {
        let (world, which) = (&self.world, step / 16);
        match step % 16 {
            0 => return self.complete(),
            1 => {
                self.end(End::Panicked);
                panic_as_meant();
            }
            2 => return Poll::Pending,
            3 => self.entry.yields.set(u32::from(which) * 4),
            4 => world.wake(which),
            5 => world.abort(which),
            6 => world.spawn(Place::Beside),
            7 => world.spawn(Place::Group(u64::from(which) % 4)),
            8 => world.spawn(Place::Honest),
            9 => world.drop_handle(which),
            10 => {
                world.join(which, self.index, cx);
                return Poll::Pending;
            }
            11 => world.abort_task(self.index),
            12 => {
                // Wakes itself, and ends all the same.
                world.wake_task(self.index);
                return self.complete();
            }
            13 => world.clock.advance(Duration::from_micros(1 << which)),
            14 => world.spawn(Place::Hostile),
            _ => {}
        }
        self.yield_now()
    }

    fn yield_now(&self) -> Poll<Output> {
        self.world.wake_task(self.index);
        Poll::Pending
    }

    fn complete(&self) -> Poll<Output> {
        self.end(End::Completed);
        Poll::Ready(Output::new(self.index, &self.world))
    }

    fn end(&self, end: End) {
        self.entry.end.set(Some(end));
        if let Some(waiter) = self.entry.joined_by.take() {
            self.world.note_woken(waiter);
        }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let world = &self.world;
        world.drops.set(world.drops.get() + 1);
        if self.entry.end.get().is_none() {
            self.end(End::Cancelled);
        }
        // Its drop is user code too. (A second panic while the first one unwinds, as when a scheduler calls back and is refused,
        // ends any process.)
        if !world.finishing.get()
            && !std::thread::panicking()
            && let Some(step) = world.program.try_next()
        {
            match step % 16 {
                0 => world.spawn(Place::Hostile),
                1 => world.wake(step / 16),
                2 => world.abort(step / 16),
                3 => world.spawn(Place::Honest),
                // Not where its spawn is refused: that panic would be the spawner's.
                4 if self.entry.spawned.get() => panic_as_meant(),
                _ => {}
            }
        }
    }
}
