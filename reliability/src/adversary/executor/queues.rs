//! [`Lives`]: the queues of a scene, from creation to the end of their last task, which place each has, and the
//! [workers](Worker) on them.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use clockworker::{AbortHandle, Queue};

use super::scene::Scene;

pub(super) struct Life {
    pub(super) queue: Queue,
    /// Its number in the program.
    pub(super) number: usize,
    /// Its number among all that there were.
    pub(super) serial: usize,
    pub(super) place: usize,
    /// Nanoseconds that its tasks used.
    pub(super) used: Cell<u64>,
    pub(super) napper: Napper,
    aborts: RefCell<Vec<AbortHandle>>,
}

#[derive(Default)]
pub(super) struct Lives {
    pub(super) all: Vec<Rc<Life>>,
    /// By number in the program: none where it is closed.
    pub(super) open: Vec<Option<Rc<Life>>>,
    /// Closed, with tasks left.
    closing: Vec<Rc<Life>>,
    /// Places to be taken, the next one last.
    free: Vec<usize>,
    places: usize,
}

/// No queue gets more tasks than this.
pub(super) const CROWD: usize = 32;

/// No more queues than this are closed and have tasks left: each time one is created or closed, all of them are looked at.
const MOST_CLOSING: usize = 128;

impl Life {
    pub(super) fn remember(&self, task: AbortHandle) {
        let mut aborts = self.aborts.borrow_mut();
        if aborts.len() > 2 * CROWD {
            aborts.retain(|task| !task.is_finished());
        }
        aborts.push(task);
    }

    /// The youngest task that is there and was not aborted.
    pub(super) fn youngest(&self) -> Option<AbortHandle> {
        let mut aborts = self.aborts.borrow_mut();
        aborts.retain(|task| !task.is_finished());
        aborts.pop()
    }
}

impl Lives {
    /// A queue was created: it takes the place of the one that went last, or a new one.
    pub(super) fn add(&mut self, number: usize, queue: Queue) -> Rc<Life> {
        self.sweep();
        let place = self.free.pop().unwrap_or(self.places);
        self.places = self.places.max(place + 1);
        let life = Rc::new(Life {
            queue,
            number,
            serial: self.all.len(),
            place,
            used: Cell::new(0),
            napper: Napper::default(),
            aborts: RefCell::default(),
        });
        self.all.push(Rc::clone(&life));
        self.open.resize(self.open.len().max(number + 1), None);
        self.open[number] = Some(Rc::clone(&life));
        life
    }

    /// Closes a queue, unless [too many](MOST_CLOSING) are closing. Its place is free once its last task has finished.
    pub(super) fn close(&mut self, number: usize) {
        self.sweep();
        if self.closing.len() == MOST_CLOSING {
            return;
        }
        if let Some(life) = self.open[number].take() {
            life.queue.close();
            self.closing.push(life);
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        let free = &mut self.free;
        self.closing.retain(|life| {
            let is_gone = life.queue.stats().live == 0;
            free.extend(is_gone.then_some(life.place));
            !is_gone
        });
    }
}

/// A task: it moves the clock in its polls, and in its drop.
pub(super) struct Worker {
    scene: Rc<Scene>,
    life: Rc<Life>,
    manner: Manner,
    /// How long its last poll took, if it was the last.
    last_poll: u64,
}

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
        self.waker.take().into_iter().for_each(Waker::wake);
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

#[cfg(test)]
mod tests {
    use clockworker::{Executor, yield_now};

    use super::*;

    #[test]
    fn places_are_taken_over_last_closed_first_and_not_before_the_last_task_has_finished() {
        let ex = Executor::new();
        let mut lives = Lives::default();
        let add = |lives: &mut Lives, number: usize| {
            let name = lives.all.len().to_string();
            lives.add(number, ex.new_queue(&name).create().unwrap()).place
        };
        assert_eq!([0, 1, 2].map(|number| add(&mut lives, number)), [0, 1, 2]);
        lives.close(1);
        lives.close(2);
        assert_eq!([1, 2].map(|number| add(&mut lives, number)), [2, 1]);
        let task = lives.open[1].clone().unwrap().queue.spawn(yield_now());
        lives.close(1);
        assert!(lives.open[1].is_none());
        assert_eq!(add(&mut lives, 1), 3, "it has a task yet");
        ex.block_on(task).unwrap();
        lives.close(1);
        assert_eq!([1, 1].map(|number| add(&mut lives, number)), [3, 2]);
    }

    #[test]
    fn no_more_queues_are_closed_than_are_looked_at_soon() {
        let ex = Executor::new();
        let mut lives = Lives::default();
        let mut tasks = Vec::new();
        for name in 0..=MOST_CLOSING {
            let life = lives.add(0, ex.new_queue(&name.to_string()).create().unwrap());
            tasks.push(life.queue.spawn(yield_now()));
            lives.close(0);
        }
        assert!(lives.open[0].is_some());
        ex.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        lives.close(0);
        assert!(lives.open[0].is_none() && lives.closing.is_empty());
    }
}
