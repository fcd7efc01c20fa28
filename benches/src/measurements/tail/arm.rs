//! The executors whose order of work is compared.

use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Scheduler, Serpt};
use clockworker_schedulers::simulate::{Policy, Queue, Simulation};

use super::schedule::Schedule;
use super::served::Served;
use super::server;
use crate::arms::{Baseline, Contender, OneQueue, host};

pub(super) struct Arm {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    policy: &'static str,
    /// Serves a schedule in such pieces on a fresh executor in a fresh host, on this thread.
    pub(super) serve: fn(&Rc<Schedule>, Duration) -> Served,
}

/// The key of the baseline: its tasks take turns, as RunnableFifo's do.
const LOCAL_SET: &str = "local_set";

pub(super) static ARMS: [Arm; 7] = [
    arm(LOCAL_SET, "LocalSet", "fifo", |jobs, piece| on(Baseline::default(), jobs, piece)),
    arm(LOCAL_SET, "LocalSet", "fifo", |jobs, piece| on(Baseline::default(), jobs, piece)),
    arm("runnable_fifo", "RunnableFifo", "fifo", under::<RunnableFifo>),
    arm("arrival_fifo", "ArrivalFifo", "arrival", under::<ArrivalFifo>),
    arm("las", "LAS", "las", under::<Las>),
    arm("qlas", "QLAS", "qlas", under::<Qlas>),
    arm("serpt", "SERPT", "serpt", under::<Serpt>),
];

const fn arm(
    key: &'static str,
    title: &'static str,
    policy: &'static str,
    serve: fn(&Rc<Schedule>, Duration) -> Served,
) -> Arm {
    Arm { key, title, policy, serve }
}

fn under<S: Scheduler + Default + 'static>(schedule: &Rc<Schedule>, piece: Duration) -> Served {
    on(OneQueue::under::<S>(), schedule, piece)
}

/// Serves a schedule in such pieces on this executor in a fresh host, on this thread.
pub(in crate::measurements) fn on(
    contender: impl Contender,
    schedule: &Rc<Schedule>,
    piece: Duration,
) -> Served {
    let contender = Rc::new(contender);
    host().block_on(contender.run_until(server::serve(&contender, schedule, piece)))
}

impl Arm {
    /// The mean response that the simulator has for `schedule`, where each piece takes such an overhead besides.
    pub(super) fn simulated_ns(&self, schedule: &Schedule, piece: Duration, overhead_ns: f64) -> f64 {
        let policy = Policy::named(self.policy).expect("the simulator has every order of work").make();
        let queue = Queue::new("jobs", policy).quantum_ns(piece.as_nanos() as u64);
        let simulation = Simulation::new([queue]).overhead_ns(overhead_ns.round() as u64);
        let mut sum = 0.0;
        simulation
            .run(schedule.jobs.iter().copied(), |done| sum += done.response_ns() as f64)
            .expect("schedules are in order, and there is one queue");
        sum / schedule.jobs.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule::job;

    const PIECE: Duration = Duration::from_micros(25);

    fn simulated_ns(arm: &Arm, overhead_ns: f64) -> f64 {
        let schedule = Schedule { jobs: vec![job(0, 50_000), job(1_000, 10_000)], length_ns: 60_000 };
        arm.simulated_ns(&schedule, PIECE, overhead_ns)
    }

    #[test]
    fn the_simulated_order_is_the_arms() {
        for arm in &ARMS[..6] {
            let ends = if arm.key == "arrival_fifo" { [50_000, 59_000] } else { [60_000, 34_000] };
            assert_eq!(simulated_ns(arm, 0.0), f64::from(ends[0] + ends[1]) / 2.0, "{}", arm.key);
        }
    }

    #[test]
    fn every_piece_is_charged_the_overhead() {
        // The long job ends three pieces after the start, the short one two.
        let [.., las, _, _] = &ARMS;
        assert_eq!(simulated_ns(las, 100.0) - simulated_ns(las, 0.0), (300.0 + 200.0) / 2.0);
    }

    #[test]
    fn every_job_is_served_by_every_arm() {
        let jobs = [(0, 60_000), (10_000, 25_000), (10_000, 1), (400_000, 25_001)];
        let jobs = jobs.map(|(at_ns, size_ns)| job(at_ns, size_ns));
        let schedule = Rc::new(Schedule { jobs: jobs.to_vec(), length_ns: 1_000_000 });
        for arm in &ARMS {
            let served = (arm.serve)(&schedule, PIECE);
            assert_eq!(served.polls, 3 + 1 + 1 + 2, "{}", arm.key);
            for (job, times) in jobs.iter().zip(&served.times) {
                assert!(times.admitted_ns >= job.at_ns, "{times:?}");
                assert!(times.completed_ns >= times.admitted_ns + job.service_ns, "{times:?}");
            }
            // The third was there when the first piece ended: no arm had to wait for the first job's end to see it.
            assert!(served.times[2].admitted_ns < served.times[0].completed_ns);
        }
    }

    #[test]
    fn time_without_jobs_is_idle() {
        let schedule = |jobs| Rc::new(Schedule { jobs, length_ns: 3_000_000 });
        let served = (ARMS[0].serve)(&schedule(vec![job(2_000_000, 1_000)]), PIECE);
        // All of it but what passes before the root future looks at the clock.
        assert!(served.idle_ns <= 2_000_000);
        assert!(served.times[0].admitted_ns >= 2_000_000);
        let nothing = (ARMS[0].serve)(&schedule(Vec::new()), PIECE);
        assert_eq!((nothing.polls, nothing.idle_ns, nothing.times.len()), (0, 0, 0));
    }
}
