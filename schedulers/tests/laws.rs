//! Every policy under the laws, with its documented order and its documented bound.

use core::num::NonZeroU32;

use clockworker_schedulers::laws::{Candidate, Law, Laws, Moment};
use clockworker_schedulers::{ArrivalFifo, GroupId, Las, Qlas, Ready, RunnableFifo, Scheduler, Task, TaskId};

const SEEDS: [u64; 3] = [1, 0xC10C_4B0A, u64::MAX];

/// Whether this pop is one of the fair turns, to which the usual order does not apply.
fn fair(moment: &Moment<'_>) -> bool {
    moment.pops.is_multiple_of(32)
}

/// Whether what was popped has the least `key` of all that was ready.
fn least<K: Ord>(moment: &Moment<'_>, key: impl Fn(&Candidate) -> K) -> bool {
    moment.ready.iter().map(&key).min() == Some(key(&moment.popped))
}

fn obeys<S: Scheduler>(name: &str, laws: impl Fn() -> Laws<'static, S>) {
    for seed in SEEDS {
        let report = laws().seed(seed).check().unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert!(report.pops > 10_000, "{name}: {report:?}");
    }
}

#[test]
fn runnable_fifo() {
    obeys("RunnableFifo", || {
        Laws::new(RunnableFifo::new)
            .order(|moment| least(moment, |task| task.became_ready))
            .waits_at_most(|crowd| crowd.ready as u64)
    });
}

#[test]
fn arrival_fifo() {
    obeys("ArrivalFifo", || {
        Laws::new(ArrivalFifo::new)
            .order(|moment| fair(moment) || least(moment, |task| task.arrival))
            .waits_at_most(|crowd| 2 * 32 * crowd.tasks as u64)
    });
}

#[test]
fn las() {
    obeys("Las", || {
        Laws::new(Las::new)
            .order(|moment| fair(moment) || least(moment, |task| (task.attained_ns, task.became_ready)))
            // At most all the ready tasks are ahead in its own group.
            .waits_at_most(|crowd| 32 * (crowd.groups * crowd.ready) as u64)
    });
}

/// The level of a group, from the definition: the number of thresholds base, 2·base, 4·base ... that it has passed.
fn level(attained_ns: u64) -> usize {
    (0..50).filter(|doublings| attained_ns >= 16_384 << doublings).count()
}

#[test]
fn qlas() {
    obeys("Qlas", || {
        Laws::new(Qlas::new)
            .order(|moment| fair(moment) || least(moment, |task| level(task.attained_ns)))
            .waits_at_most(|crowd| 32 * 51 * crowd.ready as u64)
    });
}

#[test]
fn strict_orders_have_no_exceptions() {
    obeys("strict ArrivalFifo", || {
        Laws::new(|| ArrivalFifo::new().strict())
            .may_starve()
            .steps(4_000)
            .order(|moment| least(moment, |task| task.arrival))
    });
    obeys("strict Las", || {
        Laws::new(|| Las::new().strict())
            .may_starve()
            .steps(4_000)
            .order(|moment| least(moment, |task| (task.attained_ns, task.became_ready)))
    });
    obeys("strict Qlas", || {
        Laws::new(|| Qlas::new().strict())
            .may_starve()
            .steps(4_000)
            .order(|moment| least(moment, |task| level(task.attained_ns)))
    });
}

#[test]
fn fair_turns_all_the_time_keep_every_other_law() {
    let always = NonZeroU32::MIN;
    obeys("ArrivalFifo, always fair", || {
        Laws::new(move || ArrivalFifo::new().fair_every(always))
            .steps(4_000)
            .waits_at_most(|crowd| 2 * crowd.tasks as u64)
    });
    obeys("Las, always fair", || {
        Laws::new(move || Las::new().fair_every(always))
            .steps(4_000)
            .waits_at_most(|crowd| (crowd.groups * crowd.ready) as u64)
    });
    obeys("Qlas, always fair", || {
        Laws::new(move || Qlas::new().fair_every(always))
            .steps(4_000)
            .waits_at_most(|crowd| 51 * crowd.ready as u64)
    });
}

/// The same policies with fair turns off break the bound, so the kit's loads do starve those that let them.
#[test]
fn strict_policies_starve_and_are_caught() {
    let laws = [
        Laws::new(|| ArrivalFifo::new().strict()).check().unwrap_err().law(),
        Laws::new(|| Las::new().strict()).check().unwrap_err().law(),
        Laws::new(|| Qlas::new().strict()).check().unwrap_err().law(),
    ];
    assert_eq!(laws, [Law::BoundedWait; 3]);
}

/// LAS that forgets to forget: a group index that is used again has the service of its predecessor.
#[derive(Default)]
struct Grudging(Las);

impl Scheduler for Grudging {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
    fn served(&mut self, task: Task, service_ns: u64) {
        self.0.served(task, service_ns);
    }
    fn group_closed(&mut self, _group: GroupId) {}
}

#[test]
fn service_that_outlives_its_group_is_caught() {
    let laws = Laws::new(Grudging::default)
        .order(|moment| fair(moment) || least(moment, |task| (task.attained_ns, task.became_ready)));
    assert_eq!(laws.check().unwrap_err().law(), Law::Order);
}
