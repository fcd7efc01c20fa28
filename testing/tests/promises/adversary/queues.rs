//! [`Queues`]: the queues of a scene, from creation to the end of their last task, and which place each has.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use clockworker::{AbortHandle, Queue};
use tokio::sync::Semaphore;

/// One queue, and what is known of it.
pub(super) struct Known {
    pub(super) queue: Queue,
    /// Its number in the program.
    pub(super) number: usize,
    /// Its number among all that there were.
    pub(super) serial: usize,
    pub(super) place: usize,
    /// Nanoseconds that its tasks used.
    pub(super) used: Cell<u64>,
    /// Polls that its napper has been woken for.
    pub(super) naps: Semaphore,
    pub(super) napper: RefCell<Option<AbortHandle>>,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl Known {
    pub(super) fn remember(&self, task: AbortHandle) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Aborts the youngest task that is there and was not aborted.
    pub(super) fn abort_youngest(&self) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|task| !task.is_finished());
        let youngest = tasks.pop();
        drop(tasks);
        youngest.iter().for_each(AbortHandle::abort);
    }
}

#[derive(Default)]
pub(super) struct Queues {
    pub(super) all: Vec<Rc<Known>>,
    /// By number in the program: none where it is closed.
    pub(super) open: Vec<Option<Rc<Known>>>,
    /// Closed, with tasks left.
    closing: Vec<Rc<Known>>,
    /// Places to be taken, the next one last.
    free: Vec<usize>,
    places: usize,
}

/// No more queues than this are closed and have tasks left: each time one is created or closed, all of them are looked at.
const MOST_CLOSING: usize = 128;

impl Queues {
    /// A queue was created: it takes the place of the one that went last, or a new one.
    pub(super) fn add(&mut self, number: usize, queue: Queue) -> Rc<Known> {
        self.free_places();
        let place = self.free.pop().unwrap_or(self.places);
        self.places = self.places.max(place + 1);
        let known = Rc::new(Known {
            queue,
            number,
            serial: self.all.len(),
            place,
            used: Cell::new(0),
            naps: Semaphore::new(0),
            napper: RefCell::default(),
            tasks: RefCell::default(),
        });
        self.all.push(Rc::clone(&known));
        self.open.resize(self.open.len().max(number + 1), None);
        self.open[number] = Some(Rc::clone(&known));
        known
    }

    /// Closes a queue, unless [too many](MOST_CLOSING) are closing. Its place is free once its last task has ended.
    pub(super) fn close(&mut self, number: usize) {
        self.free_places();
        if self.closing.len() == MOST_CLOSING {
            return;
        }
        if let Some(known) = self.open[number].take() {
            known.queue.close();
            self.closing.push(known);
            self.free_places();
        }
    }

    fn free_places(&mut self) {
        let free = &mut self.free;
        self.closing.retain(|known| {
            let is_gone = known.queue.stats().live == 0;
            free.extend(is_gone.then_some(known.place));
            !is_gone
        });
    }
}
