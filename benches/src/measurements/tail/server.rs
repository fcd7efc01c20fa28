//! Jobs on an executor: admitted as they become due, served in pieces, each a poll.
//!
//! There is no second thread. A job admits, at the end of its poll, what has become due during it; while there is no job the
//! root future waits at the clock for the next. So a job stands in the executor's queue at the first end of a poll after its
//! arrival, in every arm, and no executor has to notice arrivals by itself. That is kind to LocalSet: a task of its that another
//! thread wakes may wait for 31 polls, and its root future for 61.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::Scheduler;
use clockworker::{Executor, ManualClock};
use clockworker_schedulers::simulate::Job;
use tokio::sync::Notify;

use super::clock::Clock;
use super::schedule::Schedule;
use crate::arms::Runner;
use crate::arms::clockworker::{Clockworker, DefaultQueue};
use crate::arms::tokio::LocalSet;

use crate::workload::self_waking::SelfWaking;

/// What became of a schedule.
#[derive(Debug)]
pub struct Served {
    /// When each job ended, in order of arrival; 0 of those that were given up.
    pub ends_ns: Vec<u64>,
    pub polls: u64,
    /// Time that was neither work nor idle: what the executor, its host and the admission of jobs took.
    pub overhead: Duration,
    pub gave_up: bool,
}

/// Whether to give up, when a job has ended at that time.
pub type GiveUp = Box<dyn Fn(&Job, u64) -> bool>;

/// What is to be served, in pieces of such a length.
pub struct Work {
    pub schedule: Rc<Schedule>,
    pub piece: Duration,
    pub give_up: GiveUp,
}

/// Serves work on a fresh executor, until the last job has ended.
pub type Order = fn(Work) -> Served;

impl Work {
    pub fn on_local_set(self) -> Served {
        self.on(LocalSet::default(), ManualClock::new())
    }

    /// On clockworker.
    pub fn under(self, scheduler: impl Scheduler + 'static) -> Served {
        let clock = ManualClock::new();
        let executor = Executor::builder().scheduler(scheduler).clock(clock.clone()).build();
        self.on(Clockworker::new(executor.expect("the defaults are valid"), DefaultQueue), clock)
    }

    fn on(self, runner: impl Runner, clock: ManualClock) -> Served {
        let runner = Rc::new(runner);
        runner.block_on(serve(&runner, self, clock))
    }
}

async fn serve<R: Runner>(runner: &Rc<R>, work: Work, clock: ManualClock) -> Served {
    let Work { schedule, piece, give_up } = work;
    let server = Rc::new(Server {
        runner: runner.clone(),
        piece_ns: piece.as_nanos() as u64,
        give_up,
        gave_up: Cell::new(false),
        ends_ns: vec![Cell::new(0); schedule.jobs.len()],
        schedule,
        admitted: Cell::new(0),
        inside: Cell::new(0),
        emptied: Notify::new(),
        polls: Cell::new(0),
        clock: Clock::start(clock),
    });
    while let Some(next) = server.next() {
        let now = server.clock.wait_until(Duration::from_nanos(next.at_ns));
        server.admit(now);
        server.emptied.notified().await;
    }
    Served {
        ends_ns: server.ends_ns.iter().map(Cell::get).collect(),
        polls: server.polls.get(),
        overhead: server.clock.real(),
        gave_up: server.gave_up.get(),
    }
}

struct Server<R> {
    runner: Rc<R>,
    schedule: Rc<Schedule>,
    piece_ns: u64,
    give_up: GiveUp,
    gave_up: Cell<bool>,
    ends_ns: Vec<Cell<u64>>,
    admitted: Cell<usize>,
    /// Jobs that have been admitted and have not ended.
    inside: Cell<usize>,
    emptied: Notify,
    polls: Cell<u64>,
    clock: Clock,
}

impl<R: Runner> Server<R> {
    fn next(&self) -> Option<Job> {
        self.schedule.jobs.get(self.admitted.get()).copied().filter(|_| !self.gave_up.get())
    }

    fn admit(self: &Rc<Self>, now: Duration) {
        let now_ns = now.as_nanos() as u64;
        while let Some(job) = self.next().filter(|job| job.at_ns <= now_ns) {
            let number = self.admitted.get();
            self.admitted.set(number + 1);
            self.inside.set(self.inside.get() + 1);
            self.runner.spawn_detached(0, self.clone().work(number, job.service_ns));
        }
    }

    async fn work(self: Rc<Self>, number: usize, mut left_ns: u64) {
        while !self.gave_up.get() {
            let piece_ns = left_ns.min(self.piece_ns);
            let now = self.clock.spend(Duration::from_nanos(piece_ns));
            self.polls.set(self.polls.get() + 1);
            left_ns -= piece_ns;
            if left_ns == 0 {
                self.complete(number, now.as_nanos() as u64);
                self.admit(now);
                break;
            }
            self.admit(now);
            SelfWaking::new(1).await;
        }
        self.inside.set(self.inside.get() - 1);
        if self.inside.get() == 0 {
            self.emptied.notify_one();
        }
    }

    fn complete(&self, number: usize, end_ns: u64) {
        self.ends_ns[number].set(end_ns);
        if (self.give_up)(&self.schedule.jobs[number], end_ns) {
            self.gave_up.set(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::ARMS;
    use crate::measurements::tail::schedule::job;
    use crate::measurements::tail::slowdown::ORDERS;

    fn work(schedule: &Rc<Schedule>, gives_up: bool) -> Work {
        let (schedule, give_up) = (schedule.clone(), Box::new(move |_: &Job, _| gives_up));
        Work { schedule, piece: Duration::from_micros(25), give_up }
    }

    fn orders() -> impl Iterator<Item = (&'static str, Order)> {
        ARMS.into_iter().map(|(title, _, order)| (title, order)).chain(ORDERS)
    }

    fn schedule(jobs: &[(u64, u64)], length_ns: u64) -> Rc<Schedule> {
        let jobs = jobs.iter().map(|&(at_ns, size_ns)| job(at_ns, size_ns)).collect();
        Rc::new(Schedule { jobs, length_ns })
    }

    #[test]
    fn every_job_is_served_by_every_arm() {
        let schedule =
            schedule(&[(0, 100_000), (10_000, 25_000), (10_000, 1), (5_000_000, 25_001)], 6_000_000);
        for (title, order) in orders() {
            let served = order(work(&schedule, false));
            assert_eq!((served.polls, served.gave_up), (4 + 1 + 1 + 2, false), "{title}");
            let jobs = schedule.jobs.iter().zip(&served.ends_ns);
            jobs.for_each(|(job, &end_ns)| assert!(end_ns >= job.at_ns + job.service_ns, "{title}"));
            // The others came in when its first piece ended.
            assert!(served.ends_ns[0] > served.ends_ns[2], "{title}: {:?}", served.ends_ns);
            // Between the two there was nothing to do.
            assert!(served.overhead < Duration::from_millis(5), "{title}: {:?}", served.overhead);
        }
    }

    #[test]
    fn giving_up_ends_it_in_every_arm() {
        let schedule = schedule(&[(0, 1_000_000_000), (0, 1), (0, 2_000_000_000), (5, 1)], 10);
        for (title, order) in orders() {
            let served = order(work(&schedule, true));
            assert!(served.gave_up && served.ends_ns[2] == 0, "{title}: {:?}", served.ends_ns);
        }
        let nothing = work(&self::schedule(&[], 10), true).on_local_set();
        assert_eq!((nothing.polls, nothing.gave_up), (0, false));
    }
}
