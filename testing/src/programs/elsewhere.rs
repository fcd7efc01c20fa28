//! The other thread: one for each that runs programs, for all of them. The thread that gives it a job waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

struct Elsewhere {
    jobs: SyncSender<Job>,
    done: Receiver<()>,
}

thread_local! {
    static ELSEWHERE: Elsewhere = Elsewhere::begin();
}

impl Elsewhere {
    /// It ends with the thread that it serves.
    fn begin() -> Self {
        let (jobs, todo) = sync_channel::<Job>(1);
        let (tell, done) = sync_channel(1);
        thread::spawn(move || {
            while let Ok(job) = todo.recv() {
                // A panic is the job's own affair; whoever waits must hear that it is over.
                let _ = catch_unwind(AssertUnwindSafe(job));
                if tell.send(()).is_err() {
                    break;
                }
            }
        });
        Self { jobs, done }
    }
}

/// Does something on the other thread, and waits until it is done. It is not done if the other thread is gone.
pub(super) fn elsewhere(job: impl FnOnce() + Send + 'static) {
    ELSEWHERE.with(|other| {
        if other.jobs.send(Box::new(job)).is_ok() {
            let _ = other.done.recv();
        }
    });
}

/// As [`elsewhere`], for what gives a result.
pub(super) fn answer_from_elsewhere<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (tell, answer) = sync_channel(1);
    elsewhere(move || {
        let _ = tell.send(job());
    });
    answer.recv().ok()
}
