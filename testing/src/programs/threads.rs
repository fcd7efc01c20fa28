//! The threads beside an executor's.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() + Send>;

/// The threads beside an executor's: some that do things when they get to it, or one that is waited for whenever it does
/// something, so that a program has one course.
pub(super) struct Threads {
    pub(super) are_free: bool,
    workers: RefCell<Vec<Worker>>,
    next: Cell<usize>,
    /// Each waits for a task, and ends when the executor has, at the latest.
    pub(super) waiting: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

struct Worker {
    jobs: Sender<Job>,
    done: Receiver<()>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn start() -> Self {
        let (jobs, todo) = channel::<Job>();
        let (tell, done) = channel();
        let thread = thread::spawn(move || {
            for job in todo {
                // A panic is the job's own affair.
                let _ = catch_unwind(AssertUnwindSafe(job));
                let _ = tell.send(());
            }
        });
        Worker { jobs, done, thread }
    }
}

impl Threads {
    /// So many free ones, or the one that is waited for.
    pub(super) fn start(free: usize) -> Self {
        let workers = (0..free.max(1)).map(|_| Worker::start()).collect();
        Threads {
            are_free: free > 0,
            workers: RefCell::new(workers),
            next: Cell::new(0),
            waiting: Arc::default(),
        }
    }

    /// Has something done on another thread, unless they have ended.
    pub(super) fn have(&self, job: impl FnOnce() + Send + 'static) {
        let (workers, next) = (self.workers.borrow(), self.next.get());
        let Some(worker) = workers.get(next % workers.len().max(1)) else { return };
        self.next.set(next + 1);
        if worker.jobs.send(Box::new(job)).is_ok() && !self.are_free {
            let _ = worker.done.recv();
        }
    }

    /// As [`have`](Threads::have), for what gives a result. None of free threads.
    pub(super) fn ask<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (tell, answer) = channel();
        self.have(move || drop(tell.send(job())));
        if self.are_free { None } else { answer.recv().ok() }
    }

    /// Waits until free threads have done all that they were asked for. After that they do nothing.
    pub(super) fn end_free(&self) {
        if self.are_free {
            self.end();
        }
    }

    fn end(&self) {
        for Worker { jobs, thread, .. } in self.workers.take() {
            drop(jobs);
            thread.join().expect("the thread catches what its jobs panic with");
        }
    }

    /// Waits for all. The executor must have ended.
    pub(super) fn join(&self) {
        self.end();
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(|thread| thread.join().expect("a thread that awaits panicked"));
    }
}
