//! Jobs on the thread of the executor under test: admitted as they become due, served in pieces, their times written down.
//!
//! There is no second thread. Whoever was polled admits, at the end of its poll, what has become due during it; while
//! there is no job the root future waits at the clock for the next. So a job stands in the executor's queue at the first
//! end of a poll after its arrival, in every arm, and no executor has to notice arrivals by itself. That is kind to
//! LocalSet: a task of its that another thread wakes may wait for 31 polls, and its root future for 61.
//!
//! And so there need be no other clock than the thread's CPU time. The thread never sleeps, so where nobody takes the core
//! away that is the time on the wall; where somebody does, neither arrivals nor pieces go on meanwhile, and the policies
//! are compared all the same. What was taken is reported.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::arms::Contender;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::{burn_until, cpu_time};

use super::schedule::{Job, Schedule};

/// What one arm did with one schedule.
#[derive(Debug)]
pub struct Served {
    /// When each job was handed to the executor and when its last piece ended, in order of arrival.
    pub times: Vec<Times>,
    /// Pieces that all jobs were served in.
    pub polls: u64,
    /// Time in which there was no job, in nanoseconds.
    pub idle_ns: u64,
    /// From the start to the end on the wall clock, in nanoseconds.
    pub wall_ns: u64,
}

/// What happened to a job when, in nanoseconds of CPU time from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// It was spawned.
    pub admitted_ns: u64,
    /// Its last piece ended.
    pub completed_ns: u64,
}

/// Serves `schedule` in pieces of at most `piece`, from now on until the last job has ended.
///
/// Must run inside [`Contender::run_until`].
pub async fn serve<C: Contender>(contender: &Rc<C>, schedule: &Rc<Schedule>, piece: Duration) -> Served {
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
        times: server.times.iter().map(Cell::get).collect(),
        polls: server.polls.get(),
        idle_ns: server.idle.get().as_nanos() as u64,
        wall_ns: watch.elapsed().as_nanos() as u64,
    }
}

#[derive(Debug)]
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
    /// The next job that has not been admitted.
    fn next(&self) -> Option<Job> {
        self.schedule.jobs.get(self.admitted.get()).copied()
    }

    /// Keeps the thread until the next job is there.
    fn wait_for(self: &Rc<Self>, next: Job) {
        let (from, due) = (cpu_time(), self.start + Duration::from_nanos(next.at_ns));
        let there = burn_until(due);
        self.idle.set(self.idle.get() + due.saturating_sub(from));
        self.admit(there);
    }

    /// Spawns what has become due.
    fn admit(self: &Rc<Self>, now: Duration) {
        let now_ns = self.since_start(now);
        while let Some(job) = self.next().filter(|job| job.at_ns <= now_ns) {
            let number = self.admitted.get();
            self.times[number].set(Times { admitted_ns: now_ns, completed_ns: 0 });
            self.admitted.set(number + 1);
            self.inside.set(self.inside.get() + 1);
            C::detach(self.contender.spawn(0, self.clone().work(number, job.size_ns)));
        }
    }

    /// One job.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{Baseline, OneQueue, host};

    const PIECE: Duration = Duration::from_micros(25);

    fn served(contender: impl Contender, jobs: &[(u64, u64)]) -> Served {
        let jobs: Vec<Job> = jobs.iter().map(|&(at_ns, size_ns)| Job { at_ns, size_ns }).collect();
        let schedule = Rc::new(Schedule { jobs, length_ns: 1_000_000 });
        let contender = Rc::new(contender);
        host().block_on(contender.run_until(serve(&contender, &schedule, PIECE)))
    }

    fn serves_every_job(contender: impl Contender) {
        let jobs = [(0, 60_000), (10_000, 25_000), (10_000, 1), (400_000, 25_001)];
        let served = served(contender, &jobs);
        assert_eq!(served.polls, 3 + 1 + 1 + 2);
        for (&(at, size), times) in jobs.iter().zip(&served.times) {
            assert!(times.admitted_ns >= at, "{times:?}");
            assert!(times.completed_ns >= times.admitted_ns + size, "{times:?}");
        }
        // The third was there when the first piece ended: no arm had to wait for the first job's end to see it.
        assert!(served.times[2].admitted_ns < served.times[0].completed_ns);
    }

    #[test]
    fn every_job_is_served_by_every_kind_of_arm() {
        serves_every_job(Baseline::default());
        serves_every_job(OneQueue::runnable_fifo());
        serves_every_job(OneQueue::arrival_fifo());
        serves_every_job(OneQueue::las());
        serves_every_job(OneQueue::qlas());
    }

    #[test]
    fn time_without_jobs_is_idle() {
        let served = served(OneQueue::las(), &[(2_000_000, 1_000)]);
        // All of it but what passes before the root future looks at the clock.
        assert!(served.idle_ns <= 2_000_000);
        assert!(served.times[0].admitted_ns >= 2_000_000);
    }

    #[test]
    fn nothing_to_serve_is_over_at_once() {
        let served = served(Baseline::default(), &[]);
        assert_eq!((served.polls, served.idle_ns, served.times.len()), (0, 0, 0));
    }
}
