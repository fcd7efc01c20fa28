//! The same schedule in virtual time.

use std::time::Duration;

use clockworker_schedulers::simulate::{Boxed, Job, Queue, Simulation};
use clockworker_schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Serpt};

use super::arm::Arm;
use super::schedule::Schedule;
use super::window::Account;

/// The mean response that the simulator has for `schedule`, where each piece takes the overhead of `account` besides.
pub fn mean_response_ns(arm: Arm, schedule: &Schedule, piece: Duration, account: &Account) -> f64 {
    let queue = Queue::new("jobs", policy(arm)).quantum_ns(piece.as_nanos() as u64);
    let simulation = Simulation::new([queue]).overhead_ns(account.overhead_ns_per_poll.round() as u64);
    let jobs = schedule.jobs.iter().map(|job| Job {
        at_ns: job.at_ns,
        queue: 0,
        service_ns: job.size_ns,
        group: None,
    });
    let mut sum = 0.0;
    simulation
        .run(jobs, |done| sum += done.response_ns() as f64)
        .expect("schedules are in order, and there is one queue");
    sum / schedule.jobs.len().max(1) as f64
}

/// The policy that an arm's order of work is. LocalSet's tasks take turns, as RunnableFifo's do.
fn policy(arm: Arm) -> Boxed {
    match arm {
        Arm::LocalSet | Arm::RunnableFifo => Boxed::new(RunnableFifo::new()),
        Arm::ArrivalFifo => Boxed::new(ArrivalFifo::new()),
        Arm::Las => Boxed::new(Las::new()),
        Arm::Qlas => Boxed::new(Qlas::new()),
        Arm::Serpt => Boxed::new(Serpt::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule;

    /// A job of two pieces, and one of a single piece that comes during the first.
    fn mean(arm: Arm, overhead_ns_per_poll: f64) -> f64 {
        let jobs = [(0, 50_000), (1_000, 10_000)];
        let jobs = jobs.map(|(at_ns, size_ns)| schedule::Job { at_ns, size_ns }).into();
        let schedule = Schedule { jobs, length_ns: 60_000 };
        let account = Account {
            polls: 3,
            elapsed_ns: 60_000,
            idle_ns: 0,
            work_ns: 60_000,
            overhead_ns_per_poll,
            late_max_ns: 0,
            stretch: 1.0,
        };
        mean_response_ns(arm, &schedule, Duration::from_micros(25), &account)
    }

    #[test]
    fn the_order_is_the_arms() {
        let [in_turn, first_come] = [(60_000 + 34_000) / 2, (50_000 + 59_000) / 2].map(f64::from);
        assert_eq!(mean(Arm::LocalSet, 0.0), in_turn);
        assert_eq!(mean(Arm::RunnableFifo, 0.0), in_turn);
        assert_eq!(mean(Arm::ArrivalFifo, 0.0), first_come);
        assert_eq!(mean(Arm::Las, 0.0), in_turn);
        assert_eq!(mean(Arm::Qlas, 0.0), in_turn);
    }

    #[test]
    fn every_piece_is_charged_the_overhead() {
        // The long job ends three pieces after the start, the short one two.
        assert_eq!(mean(Arm::Las, 100.0) - mean(Arm::Las, 0.0), (300.0 + 200.0) / 2.0);
    }
}
