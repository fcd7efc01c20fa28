//! Tenants that always have work: one that was alone for long and one that comes, and one that comes and goes.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use tokio::time::sleep;

use super::arm::FIRST;
use super::flood::POLL;
use crate::arms::{Contender, host};
use crate::beside::lanes::{Background, Loops};
use crate::harness::Sample;
use crate::measurements::arm::Work;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

/// Tasks of each tenant.
const TASKS: usize = 10;
/// The first part of the time in which both have work.
const SOON: u32 = 5;
/// What who came has of the thread's work soon, and in all of the window: a half is due.
pub(super) const NEWCOMER_SOON: &str = "newcomer_soon";
pub(super) const NEWCOMER: &str = "newcomer";

/// One tenant is alone, then another comes with as many tasks.
pub(super) struct History {
    pub(super) alone: Duration,
    pub(super) window: Duration,
}

impl Work for History {
    type Found = Sample;

    fn on<C: Contender>(&self, contender: C) -> Sample {
        host().block_on(contender.run_until(async {
            let [old, new] =
                [(); 2].map(|()| Loops::new(Background { tasks: TASKS, poll: POLL, rest: None }));
            let _old = old.spawn(&contender, FIRST);
            sleep(self.alone).await;
            let before = old.iterations();
            let _new = new.spawn(&contender, FIRST + 1);
            let all = || new.iterations() + old.iterations() - before;
            let part = || new.iterations() as f64 / all().max(1) as f64;
            sleep(self.window / SOON).await;
            let soon = part();
            sleep(self.window - self.window / SOON).await;
            Sample::default().with_number(NEWCOMER_SOON, soon).with_number(NEWCOMER, part())
        }))
    }
}

pub(super) const STAYING: usize = 10;
pub(super) const VISIT: u32 = 3;
/// What the visitor has of an equal part, and the least of those that stay.
pub(super) const VISITOR: &str = "visitor_of_due";
pub(super) const LEAST_STAYING: &str = "least_of_due";

/// Ten tenants that stay, and one whose task ends after a few polls and comes again after the poll of another.
pub(super) struct Visitor {
    pub(super) window: Duration,
}

impl Work for Visitor {
    type Found = Sample;

    fn on<C: Contender>(&self, contender: C) -> Sample {
        let contender = Rc::new(contender);
        let street = Rc::new(Street {
            contender: Rc::downgrade(&contender),
            is_here: Cell::new(false),
            polls: std::array::from_fn(|_| Cell::new(0)),
        });
        host().block_on(contender.run_until(async {
            for tenant in 1..=STAYING {
                C::detach(contender.spawn(FIRST + tenant, street.clone().stay(tenant)));
            }
            sleep(self.window).await;
        }));
        let polls = street.polls.each_ref().map(Cell::get);
        let due = polls.iter().sum::<u64>().max(1) as f64 / polls.len() as f64;
        let least = polls[1..].iter().min().copied().unwrap_or(0);
        Sample::default()
            .with_number(VISITOR, polls[0] as f64 / due)
            .with_number(LEAST_STAYING, least as f64 / due)
    }
}

struct Street<C> {
    /// Its tasks hold this.
    contender: Weak<C>,
    is_here: Cell<bool>,
    /// The visitor's, then those of who stays.
    polls: [Cell<u64>; STAYING + 1],
}

impl<C: Contender> Street<C> {
    async fn stay(self: Rc<Self>, tenant: usize) {
        loop {
            self.poll_of(tenant);
            if !self.is_here.replace(true) {
                let contender = self.contender.upgrade().expect("it runs this task");
                C::detach(contender.spawn(FIRST, self.clone().visit()));
            }
            SelfWaking::new(1).await;
        }
    }

    async fn visit(self: Rc<Self>) {
        self.poll_of(0);
        for _ in 1..VISIT {
            SelfWaking::new(1).await;
            self.poll_of(0);
        }
        self.is_here.set(false);
    }

    fn poll_of(&self, tenant: usize) {
        burn(POLL);
        self.polls[tenant].set(self.polls[tenant].get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tenants::arm::Arm;

    fn figure(sample: &Sample, key: &str) -> f64 {
        sample.figures().find(|(name, _)| name == key).unwrap().1
    }

    #[test]
    fn all_that_the_thread_has_is_somebodys() {
        for arm in [Arm::LocalSet, Arm::RunnableFifo] {
            let sample = arm.by_key(1 + STAYING, &Visitor { window: Duration::from_millis(30) });
            let [visitor, least] = [VISITOR, LEAST_STAYING].map(|key| figure(&sample, key));
            // Eleven equal parts, of which the least is counted for each of those that stay.
            assert!(visitor + 10.0 * least <= 11.001, "{sample:?}");
        }
    }
}
