//! The command `tenants`: what each of several tenants gets of a thread.
//!
//! - `flood`: ten quiet tenants, alone and beside one that floods, under policies and on LocalSet. See [`flood`].
//! - `newcomer`: a tenant comes with as many tasks as another that was alone for a second. Both always have work, so that half of
//!   it is due to each, whatever the first had before.
//! - `shares` and `cap`: queues that always have work, and how far each is from its due. See [`shares`].
//!
//! In a round every arm has the same work, and the next round has other work. Work is CPU time, but responses are in real time:
//! with another program on the core they say nothing. A reader must not conclude that a policy which serves quiet tenants is fair:
//! QLAS does so as they ask for little, and lets a newcomer displace who was there before.

mod endless;
mod flood;
mod shares;

use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockworker::schedulers::{Deadline, FairGroups, Las, Priority, Qlas, Serpt, WokenFirst};
use clockworker::{Executor, TaskBuilder};
use tokio::time::sleep;

use crate::arms::Contender;
use crate::arms::clockworker::{BuiltTasks, executor_under};
use crate::arms::runner::Work;
use crate::arms::tokio::{Baseline, host};
use crate::harness::{
    Cell, Comparison, Experiment, Measurement, Options, Pinning, Sample, Sampling, Table, Unit,
};

use endless::Endless;
use flood::{ALONE, BESIDE, FLOOD_CPU, Flood, P99_BY_ALONE, QUIET};
use shares::{CAPPED, Layout, SHARE_ERROR, SHARES};

#[derive(Args, Debug)]
pub struct Tenants {
    #[command(flatten)]
    pub options: Options,

    /// Measure these arms only, separated by commas; LocalSet is always among them [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet, which knows no tenants: the base
    LocalSet,
    /// Clockworker as it comes, which knows none either
    WokenFirst,
    Las,
    Qlas,
    Serpt,
    /// Each tenant its share
    FairGroups,
    /// Levels: the tenant that floods is on a lower one
    Priority,
    /// Earliest deadline first: quiet tenants' tasks have one
    Deadline,
    /// The tenant that floods is in an idle queue
    IdleQueue,
}

/// The tenant that floods, or was there first: its lane and its key.
const FIRST: usize = 0;

/// What quiet tenants' tasks have under `Deadline`.
const DEADLINE: Duration = Duration::from_millis(1);

impl Arm {
    fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::WokenFirst => "WokenFirst",
            Arm::Las => "LAS",
            Arm::Qlas => "QLAS",
            Arm::Serpt => "SERPT",
            Arm::FairGroups => "FairGroups",
            Arm::Priority => "Priority",
            Arm::Deadline => "Deadline",
            Arm::IdleQueue => "an idle queue",
        }
    }

    /// Whether it has to be told who floods.
    fn is_told(self) -> bool {
        matches!(self, Arm::Priority | Arm::Deadline | Arm::IdleQueue)
    }

    /// Does work on a fresh executor. A lane is a tenant, which is a group.
    fn run<W: Work>(self, tenants: usize, work: &W) -> W::Found {
        let executor = match self {
            Arm::LocalSet => return work.on(Baseline::default()),
            Arm::WokenFirst | Arm::IdleQueue => executor_under::<WokenFirst>(),
            Arm::Las => executor_under::<Las>(),
            Arm::Qlas => executor_under::<Qlas>(),
            Arm::Serpt => executor_under::<Serpt>(),
            Arm::Priority => executor_under::<Priority>(),
            Arm::Deadline => executor_under::<Deadline>(),
            Arm::FairGroups => executor_under::<FairGroups>(),
        };
        let lanes = (0..tenants).map(|tenant| self.tasks_of(&executor, tenant)).collect();
        work.on(BuiltTasks::of(executor, lanes))
    }

    fn tasks_of(self, executor: &Executor, tenant: usize) -> TaskBuilder {
        let queue = executor.default_queue();
        let key = tenant as u64;
        match (self, tenant == FIRST) {
            (Arm::IdleQueue, true) => {
                executor.new_queue("idle").idle().create().expect("the name is free").new_task()
            }
            (Arm::Priority, true) => {
                queue.new_group(key).priority(-1).open().expect("the weight is valid").new_task()
            }
            (Arm::Deadline, false) => queue.group(key).new_task().deadline(DEADLINE),
            _ => queue.group(key).new_task(),
        }
    }
}

const FLOOD: &str = "flood";
const NEWCOMER: &str = "newcomer";
const CAP: &str = "cap";

const FLOOD_ROUNDS: u32 = 8;
/// All but the flood find about the same each time.
const ROUNDS: u32 = 4;

impl Measurement for Tenants {
    fn name(&self) -> &'static str {
        "tenants"
    }

    fn question(&self) -> &'static str {
        "What does each tenant get, whatever the others do?"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn experiments(&self, _pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>> {
        let mut experiments = vec![self.flood(), self.newcomer()];
        let window = self.window(1_000);
        experiments.extend(SHARES.map(|(title, shares)| {
            let arms = Layout::ALL.map(|layout| layout.title().to_owned()).to_vec();
            let take = move |layout: usize| shares::shared(Layout::ALL[layout], shares, window);
            Sampling::new("shares", title, arms, move |sample| Ok(take(sample.arm))).rounds(ROUNDS)
        }));
        let window = self.window(2_000);
        let arms = ["alone", "beside another queue"].map(str::to_owned).to_vec();
        let take = move |is_beside| shares::capped(is_beside, window);
        let cap = Sampling::new(CAP, shares::cap_title(), arms, move |sample| Ok(take(sample.arm == 1)));
        experiments.push(cap.rounds(ROUNDS));
        Ok(experiments.into_iter().map(|experiment| Box::new(experiment) as _).collect())
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        let of_part = |part| found.iter().filter(move |found| found.part == part);
        let floods = of_part(FLOOD).map(flood_table);
        let newcomers = of_part(NEWCOMER).map(|found| {
            Table::new(&found.title)
                .values("what who comes has of the work (a half is due)", found, NEWCOMER, Unit::Number)
                .column("× LocalSet", found, NEWCOMER, Unit::Number)
        });
        let mut shares =
            Table::new("Queues that always have work: the furthest from its due, of all service");
        shares.columns = Layout::ALL.map(|layout| layout.title().to_owned()).to_vec();
        for found in of_part("shares") {
            let error = |layout: Layout| found.figure(layout.title(), SHARE_ERROR);
            let cell = |layout| error(layout).map_or(Cell::Nothing, |error| percent(error.value));
            shares = shares.row(&found.title, Layout::ALL.map(cell));
        }
        let shares = [shares].into_iter().filter(|table| !table.rows.is_empty());
        let caps = of_part(CAP).map(|found| {
            Table::new(&found.title).values("part of the time that it had", found, CAPPED, Unit::Number)
        });
        floods.chain(newcomers).chain(shares).chain(caps).collect()
    }
}

impl Tenants {
    fn arms(&self, is_wanted: impl Fn(Arm) -> bool) -> Vec<Arm> {
        let is_asked_for =
            |arm: &Arm| *arm == Arm::LocalSet || self.arms.is_empty() || self.arms.contains(arm);
        let all = Arm::value_variants().iter().copied();
        all.filter(is_asked_for).filter(|arm| is_wanted(*arm)).collect()
    }

    /// So many milliseconds of a sample, or in a quick run a few of them.
    fn window(&self, millis: u64) -> Duration {
        Duration::from_millis(if self.options.quick { millis.min(25) } else { millis })
    }

    fn flood(&self) -> Sampling {
        let (window, drain, seed) = (self.window(300), self.window(500), self.options.seed);
        let take = move |arm: Arm, round| {
            let run =
                |floods| arm.run(FIRST + 1 + QUIET, &Flood { floods, window, drain, seed, part: round });
            flood::sample(round, run)
        };
        let title = format!("Ten quiet tenants beside one of {} busy tasks", flood::TASKS);
        sampling(FLOOD, title, self.arms(|_| true), take).rounds(FLOOD_ROUNDS)
    }

    fn newcomer(&self) -> Sampling {
        let (alone, window) = (self.window(1_000), self.window(250));
        let take = move |arm: Arm, _round| arm.run(2, &Newcomer { alone, window });
        let title = format!("One tenant was alone for {} ms, and another comes", alone.as_millis());
        sampling(NEWCOMER, title, self.arms(|arm| !arm.is_told()), take).rounds(ROUNDS)
    }
}

fn sampling(
    part: &'static str,
    title: String,
    arms: Vec<Arm>,
    take: impl Fn(Arm, u64) -> Sample + 'static,
) -> Sampling {
    let titles = arms.iter().map(|arm| arm.title().to_owned()).collect();
    Sampling::new(part, title, titles, move |window| Ok(take(arms[window.arm], window.round.into())))
}

fn flood_table(found: &Comparison) -> Table {
    let statistic = |key: &str, statistic| format!("{key}.{statistic}");
    let nanos = Unit::Nanos;
    Table::new(&found.title)
        .values("alone: p50", found, &statistic(ALONE, "p50"), nanos)
        .values("alone: p99", found, &statistic(ALONE, "p99"), nanos)
        .values("beside: p50", found, &statistic(BESIDE, "p50"), nanos)
        .values("beside: p99", found, &statistic(BESIDE, "p99"), nanos)
        .values("p99 ÷ alone", found, P99_BY_ALONE, Unit::Number)
        .column("p99 beside × LocalSet", found, &statistic(BESIDE, "p99"), nanos)
        .values("flood, of a core", found, FLOOD_CPU, Unit::Number)
}

fn percent(part: f64) -> Cell {
    Cell::Text(format!("{:.2} %", part * 100.0))
}

/// One tenant is alone, then another comes with as many tasks.
struct Newcomer {
    alone: Duration,
    window: Duration,
}

/// Tasks of each.
const TASKS: usize = 10;

impl Work for Newcomer {
    type Found = Sample;

    fn on<C: Contender>(&self, contender: C) -> Sample {
        host().block_on(contender.run_until(async {
            let [old, new] = [(); 2].map(|()| Endless::default());
            old.spawn(&contender, FIRST, TASKS);
            sleep(self.alone).await;
            let before = old.polls();
            new.spawn(&contender, FIRST + 1, TASKS);
            sleep(self.window).await;
            let all = new.polls() + old.polls() - before;
            Sample::default().number(NEWCOMER, new.polls() as f64 / all.max(1) as f64)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_flood_has_arms_that_are_told_who_floods() {
        let tenants = |arms| Tenants { options: Options::default(), arms };
        let arms = |arms| {
            let experiments = tenants(arms).experiments(&Pinning::detect()).unwrap();
            [0, 1].map(|experiment: usize| experiments[experiment].arms().len())
        };
        assert_eq!(arms(Vec::new()), [9, 6]);
        assert_eq!(arms(vec![Arm::FairGroups, Arm::IdleQueue]), [3, 2]);
    }
}
