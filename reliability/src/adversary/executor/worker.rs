//! [`Worker`]: a task of a scene.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::queues::Life;
use super::scene::Scene;

/// A task: it moves the clock in its polls, and in its drop.
pub(super) struct Worker {
    scene: Rc<Scene>,
    life: Rc<Life>,
    manner: Manner,
    /// How long its last poll took, if it was the last.
    last_poll: u64,
}

/// How long it goes on.
pub(super) enum Manner {
    /// It always has work.
    Always,
    /// It has so many polls, and its drop takes so long.
    Polls { left: u32, drop: u64 },
    /// It sleeps, and is woken for some polls.
    Naps,
}

/// What a queue's napper has to do.
#[derive(Default)]
pub(super) struct Napper {
    is_there: Cell<bool>,
    polls_left: Cell<u32>,
    waker: Cell<Option<Waker>>,
}

/// The most polls that a napper is woken for.
const LONGEST_DAY: u32 = 1_000;

impl Napper {
    /// Gives it more to do. False if there is none.
    pub(super) fn wake(&self, polls: u32) -> bool {
        self.polls_left.set((self.polls_left.get() + polls).min(LONGEST_DAY));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        self.is_there.get()
    }
}

impl Worker {
    pub(super) fn new(scene: &Rc<Scene>, life: &Rc<Life>, manner: Manner) -> Self {
        if matches!(manner, Manner::Naps) {
            life.napper.is_there.set(true);
        }
        Worker { scene: Rc::clone(scene), life: Rc::clone(life), manner, last_poll: 0 }
    }

    fn nap(&self, cx: &Context<'_>) -> Poll<()> {
        let napper = &self.life.napper;
        if let Some(left) = napper.polls_left.get().checked_sub(1) {
            napper.polls_left.set(left);
            self.scene.poll(&self.life);
        }
        // Its own poll may have given it more to do.
        match napper.polls_left.get() {
            0 => napper.waker.set(Some(cx.waker().clone())),
            _ => cx.waker().wake_by_ref(),
        }
        Poll::Pending
    }
}

impl Future for Worker {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if matches!(self.manner, Manner::Naps) {
            return self.nap(cx);
        }
        let length = self.scene.poll(&self.life);
        if let Manner::Polls { left, .. } = &mut self.manner {
            *left -= 1;
            if *left == 0 {
                self.last_poll = length;
                return Poll::Ready(());
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        match self.manner {
            Manner::Always => {}
            Manner::Polls { drop, .. } => self.scene.end(&self.life, self.last_poll, drop),
            Manner::Naps => {
                self.life.napper.is_there.set(false);
                self.life.napper.polls_left.set(0);
            }
        }
    }
}
