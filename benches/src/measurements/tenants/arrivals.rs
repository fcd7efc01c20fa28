//! Jobs of many tenants as they arrive, served in pieces as those of [`tail`](crate::measurements::tail) are.

use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::simulate::Job;

use crate::arms::Contender;
use crate::harness::Sample;
use crate::measurements::arm::Work;
use crate::measurements::tail::arm;
use crate::measurements::tail::schedule::{Schedule, Service};
use crate::measurements::tail::served::Served;
use crate::random::{Purpose, Random, Zipf};
use crate::stats::spread::Values;

const PIECE: Duration = Duration::from_micros(25);

/// A tenant that asks for less than this part of all work has too few jobs for a share to be told.
const SMALLEST: f64 = 0.01;

/// How jobs are dealt out to tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tenancy {
    Uniform,
    /// The nth tenant has a job for each n of the first's.
    Zipf,
}

/// Responses of all jobs, of those of the tenant that asks for most, and of the others'.
pub(super) const RESPONSE: &str = "response_ns";
pub(super) const GREATEST: &str = "greatest_ns";
pub(super) const OTHERS: &str = "others_ns";
/// What was served by the end of what a tenant had asked for: the least, of those that asked for a hundredth of all. The load is
/// below 1, so all of it is due to each.
pub(super) const LEAST: &str = "least_of_asked";

pub(super) struct Arrivals {
    pub(super) tenancy: Tenancy,
    pub(super) tenants: u32,
    pub(super) load: f64,
    pub(super) window: Duration,
    pub(super) seed: u64,
    pub(super) part: u64,
}

impl Work for Arrivals {
    type Found = Sample;

    fn on<C: Contender>(&self, contender: C) -> Sample {
        self.sample(&arm::on(contender, &Rc::new(self.draw()), PIECE))
    }
}

impl Arrivals {
    fn draw(&self) -> Schedule {
        let mut schedule = Schedule::draw(Service::Exponential, self.load, self.window, self.seed, self.part);
        let mut random = Random::new(self.seed, Purpose::Groups, self.part);
        let zipf = (self.tenancy == Tenancy::Zipf).then(|| Zipf::new(self.tenants as usize));
        let mut draw = || match &zipf {
            Some(zipf) => zipf.draw(&mut random),
            None => random.below(self.tenants.into()),
        };
        schedule.jobs.iter_mut().for_each(|job| job.group = Some(draw() as u32));
        schedule
    }

    fn sample(&self, served: &Served) -> Sample {
        let tenant_of = |job: &Job| job.group.unwrap_or(0) as usize;
        let jobs = || served.schedule.jobs.iter().zip(&served.times);
        let mut asked = vec![[0_u64; 2]; self.tenants as usize];
        for (job, times) in jobs() {
            let [all, in_time] = &mut asked[tenant_of(job)];
            *all += job.service_ns;
            *in_time += if times.completed_ns <= served.schedule.length_ns { job.service_ns } else { 0 };
        }
        let greatest = (0..asked.len()).max_by_key(|&tenant| asked[tenant][0]);
        let [mut of_greatest, mut of_others] = [Values::default(), Values::default()];
        for (job, times) in jobs() {
            let values = if Some(tenant_of(job)) == greatest { &mut of_greatest } else { &mut of_others };
            values.add((times.completed_ns - job.at_ns) as f64);
        }
        let mut all = of_greatest.clone();
        all.merge(&of_others);
        let enough = SMALLEST * served.schedule.work_ns() as f64;
        let parts = asked.iter().filter(|[all, _]| *all as f64 >= enough);
        let least = parts.map(|&[all, in_time]| in_time as f64 / all as f64).reduce(f64::min);
        Sample::default()
            .with_number(LEAST, least.unwrap_or(f64::NAN))
            .with_values(RESPONSE, all)
            .with_values(GREATEST, of_greatest)
            .with_values(OTHERS, of_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule::job;
    use crate::measurements::tail::served::Times;

    fn arrivals(tenancy: Tenancy) -> Arrivals {
        let window = Duration::from_millis(100);
        Arrivals { tenancy, tenants: 10, load: 0.8, window, seed: 1, part: 0 }
    }

    #[test]
    fn a_seed_repeats_whose_a_job_is() {
        for tenancy in [Tenancy::Uniform, Tenancy::Zipf] {
            let schedule = arrivals(tenancy).draw();
            assert_eq!(schedule, arrivals(tenancy).draw());
            let of = |tenant| schedule.jobs.iter().filter(|job| job.group == Some(tenant)).count();
            let (first, all) = (of(0), schedule.jobs.len());
            assert_eq!((0..10).map(of).sum::<usize>(), all);
            // A tenth, or one part in 1 + 1/2 + .. + 1/10.
            let part = first as f64 / all as f64;
            let due = if tenancy == Tenancy::Zipf { 0.341 } else { 0.1 };
            assert!((part - due).abs() < 0.05, "{tenancy:?}: {part}");
        }
    }

    #[test]
    fn who_asks_for_most_is_told_apart_and_what_came_too_late_was_not_served() {
        let of = |tenant, at_ns, service_ns| Job { group: Some(tenant), ..job(at_ns, service_ns) };
        let jobs = vec![of(3, 0, 1_000), of(7, 0, 4_000), of(7, 1_000, 1_000)];
        let ends = [2_000, 6_000, 11_000];
        let schedule = Rc::new(Schedule { jobs, length_ns: 10_000 });
        let times = ends.map(|completed_ns| Times { admitted_ns: 0, completed_ns }).to_vec();
        let served = Served { schedule, times, polls: 3, idle_ns: 0, wall_ns: 11_000 };
        let sample = arrivals(Tenancy::Uniform).sample(&served);
        let figure = |key: &str| sample.figures().find(|(name, _)| name == key).unwrap().1;
        assert_eq!(figure(LEAST), 0.8);
        assert_eq!(figure("greatest_ns.mean"), 8_000.0);
        assert_eq!(figure("others_ns.mean"), 2_000.0);
        assert_eq!(figure("response_ns.max"), 10_000.0);
    }
}
