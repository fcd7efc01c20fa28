//! The tasks: what they do at each poll is in the program.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::panics::panic_as_meant;
use clockworker::JoinHandle;

use super::scene::Scene;

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Hostile,
    Group(u64),
    Honest,
    /// Where the task is that spawns it.
    Beside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    Panicked,
    Cancelled,
}

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

/// What a task gives. The outputs that exist are counted.
pub(super) struct Output {
    pub(super) index: usize,
    _counted: Rc<()>,
}

pub(super) struct Programmed {
    pub(super) index: usize,
    pub(super) entry: Rc<Entry>,
    pub(super) scene: Rc<Scene>,
}

impl Future for Programmed {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let this = &*self;
        let (entry, scene) = (&this.entry, &this.scene);
        assert_eq!(entry.end.get(), None, "polled after its end");
        assert!(entry.awake.replace(false), "polled without having been woken");
        if entry.hostile.get() {
            scene.hostile_polls.set(scene.hostile_polls.get() + 1);
        }
        drop(entry.waker.replace(Some(cx.waker().clone())));
        if scene.finishing.get() {
            return this.complete();
        }
        if let Some(left) = entry.yields.get().checked_sub(1) {
            entry.yields.set(left);
            return this.yield_now();
        }
        match scene.program.try_next() {
            Some(step) => this.step(step, cx),
            None => this.complete(),
        }
    }
}

impl Programmed {
    fn step(&self, step: u8, cx: &mut Context<'_>) -> Poll<Output> {
        let (scene, which) = (&self.scene, step / 16);
        match step % 16 {
            0 => return self.complete(),
            1 => {
                self.end(End::Panicked);
                panic_as_meant();
            }
            2 => return Poll::Pending,
            3 => self.entry.yields.set(u32::from(which) * 4),
            4 => scene.wake(which),
            5 => scene.abort(which),
            6 => scene.spawn(Place::Beside),
            7 => scene.spawn(Place::Group(u64::from(which) % 4)),
            8 => scene.spawn(Place::Honest),
            9 => scene.drop_handle(which),
            10 => {
                scene.join(which, self.index, cx);
                return Poll::Pending;
            }
            11 => scene.abort_task(self.index),
            12 => {
                // Wakes itself, and ends all the same.
                scene.wake_task(self.index);
                return self.complete();
            }
            13 => scene.clock.advance(Duration::from_micros(1 << which)),
            14 => scene.spawn(Place::Hostile),
            _ => {}
        }
        self.yield_now()
    }

    fn yield_now(&self) -> Poll<Output> {
        self.scene.wake_task(self.index);
        Poll::Pending
    }

    fn complete(&self) -> Poll<Output> {
        self.end(End::Completed);
        Poll::Ready(Output { index: self.index, _counted: Rc::clone(&self.scene.outputs) })
    }

    fn end(&self, end: End) {
        self.entry.end.set(Some(end));
        if let Some(waiter) = self.entry.joined_by.take() {
            self.scene.note_woken(waiter);
        }
    }
}

impl Drop for Programmed {
    fn drop(&mut self) {
        let scene = &self.scene;
        scene.drops.set(scene.drops.get() + 1);
        if self.entry.end.get().is_none() {
            self.end(End::Cancelled);
        }
        // Its drop is user code too. (A second panic while the first one unwinds, as when a scheduler calls back and is refused,
        // ends any process.)
        if !scene.finishing.get()
            && !std::thread::panicking()
            && let Some(step) = scene.program.try_next()
        {
            match step % 16 {
                0 => scene.spawn(Place::Hostile),
                1 => scene.wake(step / 16),
                2 => scene.abort(step / 16),
                3 => scene.spawn(Place::Honest),
                // Not where its spawn is refused: that panic would be the spawner's.
                4 if self.entry.spawned.get() => panic_as_meant(),
                _ => {}
            }
        }
    }
}
