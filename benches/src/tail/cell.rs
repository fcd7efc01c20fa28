//! One service time at one utilisation: every arm, in interleaved rounds.

use std::rc::Rc;

use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::stats::{self, Estimate};

use super::arm::Arm;
use super::options::Options;
use super::report::{ArmReport, CellReport, ClassReport, Round};
use super::schedule::Schedule;
use super::service::Service;
use super::simulated;
use super::window::{Account, Jobs};

/// Everything that an arm did in a cell.
#[derive(Default)]
struct Record {
    rounds: Vec<Round>,
    jobs: Jobs,
}

/// The records, in the order of [`Arm::ALL`].
type Records = [Record; Arm::ALL.len()];

/// Measures a cell. `part` tells it apart from the other cells of the run.
pub fn run(service: Service, load_percent: u32, part: u64, options: &Options) -> CellReport {
    let rounds = options.rounds();
    let progress = Progress::start("tail", u64::from(rounds) * Arm::ALL.len() as u64);
    let mut order = Random::new(options.seed, Purpose::Order, part);
    let mut records = Records::default();
    for round in 0..u64::from(rounds) {
        let load = f64::from(load_percent) / 100.0;
        let schedule = Schedule::draw(service, load, options.window(), options.seed, part << 32 | round);
        run_round(&Rc::new(schedule), options, &mut order, &progress, &mut records);
    }
    progress.finish();
    let mut resampling = Random::new(options.seed, Purpose::Resampling, part);
    report(service, load_percent, records, &mut resampling)
}

fn run_round(
    schedule: &Rc<Schedule>,
    options: &Options,
    order: &mut Random,
    progress: &Progress,
    records: &mut Records,
) {
    let mut places: [usize; Arm::ALL.len()] = std::array::from_fn(|place| place);
    order.shuffle(&mut places);
    for place in places {
        let arm = Arm::ALL[place];
        progress.say(arm.title());
        let served = arm.serve(schedule, options.piece());
        let (jobs, account) = (Jobs::of(schedule, &served), Account::of(schedule, &served));
        let simulated_mean_ns = simulated::mean_response_ns(arm, schedule, options.piece(), &account);
        let (response, slowdown) = (jobs.all.response.spread(), jobs.all.slowdown.spread());
        records[place].rounds.push(Round { response_ns: response, slowdown, account, simulated_mean_ns });
        records[place].jobs.merge(&jobs);
        progress.advance();
    }
}

fn report(service: Service, load_percent: u32, records: Records, resampling: &mut Random) -> CellReport {
    let base = records[0].rounds.clone();
    let arms = Arm::ALL.into_iter().zip(records);
    CellReport {
        service,
        distribution: service.distribution().to_string(),
        load_percent,
        arms: arms.map(|(arm, record)| report_arm(arm, record, &base, resampling)).collect(),
    }
}

fn report_arm(arm: Arm, record: Record, base: &[Round], resampling: &mut Random) -> ArmReport {
    let Record { rounds, jobs: Jobs { all, classes } } = record;
    let mut ratio = |own: fn(&Round) -> f64, to: &[Round], of: fn(&Round) -> f64| {
        let [own, base]: [Vec<f64>; 2] = [rounds.iter().map(own).collect(), to.iter().map(of).collect()];
        stats::bootstrap_median(&stats::paired_ratios(&own, &base), resampling)
    };
    let mean = |round: &Round| round.response_ns.mean;
    let against = |estimate: Estimate| (arm != Arm::ALL[0]).then_some(estimate);
    let mean_ratio = against(ratio(mean, base, mean));
    let slowdown_p99_ratio = against(ratio(|round| round.slowdown.p99, base, |round| round.slowdown.p99));
    let simulated_ratio = ratio(mean, &rounds, |round| round.simulated_mean_ns);
    let overheads: Vec<f64> = rounds.iter().map(|round| round.account.overhead_ns_per_poll).collect();
    ArmReport {
        arm,
        title: arm.title(),
        jobs: all.response.count(),
        unfinished: all.unfinished,
        response_ns: all.response.spread(),
        slowdown: all.slowdown.spread(),
        mean_ratio,
        slowdown_p99_ratio,
        simulated_ratio,
        overhead_ns_per_poll: stats::median(&overheads),
        late_max_ns: rounds.iter().map(|round| round.account.late_max_ns).max().unwrap_or(0),
        stretch_max: rounds.iter().map(|round| round.account.stretch).fold(0.0, f64::max),
        classes: classes.into_iter().map(|(class, waits)| ClassReport::of(class, &waits)).collect(),
        response_curve: all.response.curve(),
        slowdown_curve: all.slowdown.curve(),
        rounds,
    }
}
