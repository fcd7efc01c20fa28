//! Jobs on the thread of the executor under test: admitted as they become due, served in pieces, their times written down.
//!
//! There is no second thread. A job admits, at the end of its poll, what has become due during it; while
//! there is no job the root future waits at the clock for the next. So a job stands in the executor's queue at the first
//! end of a poll after its arrival, in every arm, and no executor has to notice arrivals by itself. That is kind to
//! LocalSet: a task of its that another thread wakes may wait for 31 polls, and its root future for 61.
//!
//! And so there need be no other clock than the thread's CPU time. The thread never sleeps, so where no other program takes
//! the core away that is the time on the wall; where one does, neither arrivals nor pieces go on meanwhile, and the policies
//! are compared all the same. What was taken is reported.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::simulate::Job;
use tokio::sync::Notify;

use super::schedule::Schedule;
use super::served::{Served, Times};
use crate::arms::Contender;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::{burn_until, cpu_time};

/// Serves `schedule` in pieces of at most `piece`, from now on until the last job has ended. A job's lane is its group's number.
///
/// Must run inside [`Contender::run_until`].
pub(super) async fn serve<C: Contender>(
    contender: &Rc<C>,
    schedule: &Rc<Schedule>,
    piece: Duration,
) -> Served {
    let watch = Stopwatch::start();
    let server = Rc::new(Server {
        contender: contender.clone(),
        schedule: schedule.clone(),
        piece_ns: piece.as_nanos() as u64,
        start: cpu_time(),
        times: vec![Cell::default(); schedule.jobs.len()],
        admitted: Cell::new(0),
        inside: Cell::new(0),
        emptied: Notify::new(),
        polls: Cell::new(0),
        idle: Cell::new(Duration::ZERO),
    });
    while let Some(next) = server.next() {
        server.wait_for(next);
        server.emptied.notified().await;
    }
    Served {
        schedule: schedule.clone(),
        times: server.times.iter().map(Cell::get).collect(),
        polls: server.polls.get(),
        idle_ns: server.idle.get().as_nanos() as u64,
        wall_ns: watch.elapsed().as_nanos() as u64,
    }
}

struct Server<C> {
    contender: Rc<C>,
    schedule: Rc<Schedule>,
    piece_ns: u64,
    start: Duration,
    times: Vec<Cell<Times>>,
    admitted: Cell<usize>,
    inside: Cell<usize>,
    emptied: Notify,
    polls: Cell<u64>,
    idle: Cell<Duration>,
}

impl<C: Contender> Server<C> {
    fn next(&self) -> Option<Job> {
        self.schedule.jobs.get(self.admitted.get()).copied()
    }

    fn wait_for(self: &Rc<Self>, next: Job) {
        let (from, due) = (cpu_time(), self.start + Duration::from_nanos(next.at_ns));
        let there = burn_until(due);
        self.idle.set(self.idle.get() + due.saturating_sub(from));
        self.admit(there);
    }

    fn admit(self: &Rc<Self>, now: Duration) {
        let now_ns = self.since_start(now);
        while let Some(job) = self.next().filter(|job| job.at_ns <= now_ns) {
            let number = self.admitted.get();
            self.times[number].set(Times { admitted_ns: now_ns, completed_ns: 0 });
            self.admitted.set(number + 1);
            self.inside.set(self.inside.get() + 1);
            let lane = job.group.unwrap_or(0) as usize;
            C::detach(self.contender.spawn(lane, self.clone().work(number, job.service_ns)));
        }
    }

    async fn work(self: Rc<Self>, number: usize, size_ns: u64) {
        let mut left_ns = size_ns;
        loop {
            let piece_ns = left_ns.min(self.piece_ns);
            let end = burn_until(cpu_time() + Duration::from_nanos(piece_ns));
            self.polls.set(self.polls.get() + 1);
            left_ns -= piece_ns;
            if left_ns == 0 {
                self.complete(number, end);
                return;
            }
            self.admit(end);
            SelfWaking::new(1).await;
        }
    }

    fn complete(self: &Rc<Self>, number: usize, end: Duration) {
        let times = &self.times[number];
        times.set(Times { completed_ns: self.since_start(end), ..times.get() });
        self.inside.set(self.inside.get() - 1);
        self.admit(end);
        if self.inside.get() == 0 {
            self.emptied.notify_one();
        }
    }

    fn since_start(&self, moment: Duration) -> u64 {
        (moment - self.start).as_nanos() as u64
    }
}
