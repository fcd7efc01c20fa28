//! Tenants whose polls are unlike: five of short ones and five of long ones, which always have work, and one that has a request now
//! and then, in one poll that is longer still.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::FairGroups;
use tokio::time::sleep;

use super::arm::FIRST;
use crate::arms::{Contender, host};
use crate::harness::Sample;
use crate::measurements::arm::Work;
use crate::stats::spread::Values;
use crate::stopwatch::now;
use crate::workload::self_waking::SelfWaking;

/// Tenants that always have work, of each kind, and tasks of each tenant.
pub(super) const OF_A_KIND: usize = 5;
pub(super) const TASKS: usize = 5;
pub(super) const SHORT: Duration = Duration::from_nanos(200);
pub(super) const LONG: Duration = Duration::from_micros(20);
pub(super) const REQUEST: Duration = Duration::from_micros(200);
/// From one request to the next: a twentieth of the thread, of which an eleventh is due.
pub(super) const PAUSE: Duration = Duration::from_millis(4);

/// From a request's spawn to its poll.
pub(super) const WAIT: &str = "wait_ns";
/// Its p99 over what `FairGroups` promises one that owes nothing: a turn of each other tenant.
pub(super) const WAIT_BY_PROMISE: &str = "wait_by_promise";
/// What those of long polls have of the work of those that always have some: a half is due. It is a little more, as those of short
/// polls are charged for what surrounds the work, too: this scene's own readings of the clock, and what the executor does.
pub(super) const OF_LONG: &str = "long_of_work";

pub(super) struct Unlike {
    pub(super) window: Duration,
}

/// The work of one kind of tenants so far.
#[derive(Clone, Default)]
struct Done(Rc<RefCell<Duration>>);

impl Work for Unlike {
    type Found = Sample;

    fn on<C: Contender>(&self, contender: C) -> Sample {
        let [short, long] = [Done::default(), Done::default()];
        let waits = Rc::<RefCell<Vec<Option<u64>>>>::default();
        host().block_on(contender.run_until(async {
            for tenant in 0..OF_A_KIND * TASKS {
                let lane = FIRST + 1 + tenant % OF_A_KIND;
                C::detach(contender.spawn(lane, short.clone().repeat(SHORT)));
                C::detach(contender.spawn(lane + OF_A_KIND, long.clone().repeat(LONG)));
            }
            let end = now() + self.window;
            while now() < end {
                sleep(PAUSE).await;
                let (waits, spawned) = (waits.clone(), now());
                C::detach(contender.spawn(FIRST, async move {
                    waits.borrow_mut().push(Some(spawned.elapsed().as_nanos() as u64));
                    _ = spin(REQUEST);
                }));
            }
        }));
        let [short, long] = [short, long].map(|done| done.0.borrow().as_secs_f64());
        let waits = Values::of_nanos(waits.take());
        let turn_ns = FairGroups::new().quantum_ns() + LONG.as_nanos() as u64;
        let promised_ns = (2 * OF_A_KIND) as u64 * turn_ns;
        Sample::default()
            .with_number(OF_LONG, long / (short + long))
            .with_number(WAIT_BY_PROMISE, waits.at(0.99) / promised_ns as f64)
            .with_values(WAIT, waits)
    }
}

impl Done {
    async fn repeat(self, poll: Duration) {
        loop {
            let took = spin(poll);
            *self.0.borrow_mut() += took;
            SelfWaking::new(1).await;
        }
    }
}

/// Keeps the core busy for so long, by the clock: a reading of the thread's CPU time takes longer than a short poll. Returns how long.
fn spin(length: Duration) -> Duration {
    let start = now();
    loop {
        let elapsed = start.elapsed();
        if elapsed >= length {
            return elapsed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tenants::arm::Arm;

    #[test]
    fn requests_are_served_beside_both_kinds() {
        for arm in [Arm::LocalSet, Arm::FairGroups] {
            let sample = arm.forewarned(1 + 2 * OF_A_KIND, &Unlike { window: Duration::from_millis(30) });
            let figure = |key: &str| sample.figures().find(|(name, _)| name == key).unwrap().1;
            assert!((0.0..1.0).contains(&figure(OF_LONG)) && figure("wait_ns.p99") > 0.0, "{arm:?}");
        }
    }
}
