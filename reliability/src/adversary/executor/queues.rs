//! [`Lives`]: the queues of a scene, from creation to the end of their last task, and which place each has.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use clockworker::{AbortHandle, Queue};

use super::worker::Napper;

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

/// All queues that there were.
#[derive(Default)]
pub(super) struct Lives {
    pub(super) all: Vec<Rc<Life>>,
    /// By number in the program: none where it is closed.
    open: Vec<Option<Rc<Life>>>,
    /// Closed, with tasks left.
    closing: Vec<Rc<Life>>,
    /// Places to be taken, the next one last.
    free: Vec<usize>,
    places: usize,
}

/// No queue gets more tasks than this.
const CROWD: usize = 32;

impl Life {
    pub(super) fn is_crowded(&self) -> bool {
        self.queue.stats().live >= CROWD
    }

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
    pub(super) fn open(&self, number: usize) -> Option<Rc<Life>> {
        self.open.get(number)?.clone()
    }

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

    /// Closes a queue. Its place is free once its last task has finished.
    pub(super) fn close(&mut self, number: usize) {
        if let Some(life) = self.open[number].take() {
            self.sweep();
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
        let task = lives.open(1).unwrap().queue.spawn(yield_now());
        lives.close(1);
        assert!(lives.open(1).is_none());
        assert_eq!(add(&mut lives, 1), 3, "it has a task yet");
        ex.block_on(task).unwrap();
        lives.close(1);
        assert_eq!([1, 1].map(|number| add(&mut lives, number)), [3, 2]);
    }
}
