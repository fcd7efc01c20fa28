//! The command `compare`: the headline of each measurement, in one run.

use anyhow::{Result, bail, ensure};

use super::micro::MICRO;
use super::priority::PRIORITY;
use super::programs::PROGRAMS;
use super::service::SERVICE;
use super::tail::TAIL;
use super::tenants::TENANTS;
use crate::harness::run::run_all;
use crate::harness::{Cell, Comparison, Figure, Found, Measurement, Options, Table};

/// A measurement as it is asked here, and what of it is in the table at the end.
struct Headline {
    measurement: &'static Measurement,
    only: &'static [&'static str],
    arms: &'static [&'static str],
    /// Unless `--rounds` gives a number or the run is a quick one.
    rounds: u32,
    shown: &'static [Shown],
}

/// The ratio of a figure of an arm, in the first comparison of a part whose title has such words.
struct Shown {
    what: &'static str,
    part: &'static str,
    words: &'static str,
    arm: &'static str,
    figure: &'static str,
}

const fn shown(
    what: &'static str,
    [part, words]: [&'static str; 2],
    [arm, figure]: [&'static str; 2],
) -> Shown {
    Shown { what, part, words, arm, figure }
}

/// All are to take less than 80 s in all, on an idle machine.
const HEADLINES: &[Headline] = &[
    Headline {
        measurement: &MICRO,
        only: &["spawn", "poll", "hop"],
        arms: &["clockworker", "clockworker_fairgroups"],
        rounds: 6,
        shown: &[
            shown("Spawn and join", ["spawn", "spawn, join"], ["Clockworker", "ns"]),
            shown("A task's poll that yields", ["poll", "0 tasks"], ["Clockworker", "ns"]),
            shown("… with FairGroups", ["poll", "0 tasks"], ["Clockworker, FairGroups", "ns"]),
            shown("A task wakes another", ["hop", "in one queue"], ["Clockworker", "ns"]),
        ],
    },
    Headline {
        measurement: &SERVICE,
        only: &["kv_16"],
        arms: &["clockworker_by_imports", "clockworker_two_queues_19_1"],
        rounds: 6,
        shown: &[
            shown(
                "Key-value service beside 16 compactors, imports alone: mean",
                ["kv_16", ""],
                ["Clockworker by imports", "latency_ns.mean"],
            ),
            shown("… two queues, 19:1", ["kv_16", ""], ["Clockworker, two queues 19:1", "latency_ns.mean"]),
        ],
    },
    Headline {
        measurement: &PRIORITY,
        only: &["published_shape"],
        arms: &[],
        rounds: 4,
        shown: &[
            shown(
                "Foreground beside a background that sleeps, 99:1: p99 ÷ alone",
                ["published_shape", ""],
                ["Clockworker 99:1", "total_latency_ns.p99"],
            ),
            shown(
                "… the background ÷ LocalSet's",
                ["published_shape", ""],
                ["Clockworker 99:1", "background_cpu"],
            ),
        ],
    },
    Headline {
        measurement: &TAIL,
        only: &["order"],
        arms: &[],
        rounds: 6,
        shown: &[shown(
            "Jobs of Pareto sizes at 90 %, QLAS: p99 slowdown",
            ["order", "Pareto, α = 1.1, 10 µs to 100 ms, at 90"],
            ["Clockworker, QLAS", "slowdown.p99"],
        )],
    },
    Headline {
        measurement: &TENANTS,
        only: &["flood"],
        arms: &["clockworker_fairgroups"],
        rounds: 6,
        shown: &[shown(
            "Quiet tenants beside a flood, FairGroups: p99",
            ["flood", ""],
            ["Clockworker, FairGroups", "beside_ns.p99"],
        )],
    },
    Headline {
        measurement: &PROGRAMS,
        only: &["mutex_across_yield", "key_value", "tokio_spawn_from_task"],
        arms: &[],
        rounds: 8,
        shown: &[
            shown("Imports alone: a mutex held across a yield", ["mutex_across_yield", ""], IMPORTS),
            shown("Imports alone: tokio::spawn(..).await", ["tokio_spawn_from_task", ""], IMPORTS),
            shown(
                "Imports alone: a key-value server, p99",
                ["key_value", ""],
                ["Clockworker", "latency_ns.p99"],
            ),
        ],
    },
];

const IMPORTS: [&str; 2] = ["Clockworker", "time_ns"];

impl Headline {
    fn options(&self, options: &Options) -> Options {
        let owned = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
        let rounds = options.rounds.or((!options.quick).then_some(self.rounds));
        let (only, arms, seed, quick) = (owned(self.only), owned(self.arms), options.seed, options.quick);
        Options { quick, rounds, seed, only, arms, ..Options::default() }
    }

    fn rows<'a>(&'a self, found: &'a Found) -> impl Iterator<Item = (&'a str, [Cell; 2])> {
        let whole = format!("cargo run --release -p clockworker-benches -- {}", self.measurement.name);
        self.shown.iter().map(move |shown| {
            let ratio = match shown.find(found) {
                None => Cell::Nothing,
                // A window of a few milliseconds may have passed without a poll of LocalSet's background.
                Some(Figure { ratio: None, .. }) => Cell::Text("the base is 0".to_owned()),
                Some(Figure { ratio: Some(ratio), .. }) => Cell::Ratio(*ratio),
            };
            (shown.what, [ratio, Cell::Text(whole.clone())])
        })
    }
}

impl Shown {
    fn find<'a>(&self, found: &'a Found) -> Option<&'a Figure> {
        let is_it = |one: &&Comparison| one.part == self.part && one.title.contains(self.words);
        found.comparisons.iter().find(is_it)?.figure(self.arm, self.figure)
    }
}

/// Runs them one after the other. `--only` names measurements here.
pub fn run(options: &Options) -> Result<()> {
    let names: Vec<&str> = HEADLINES.iter().map(|headline| headline.measurement.name).collect();
    if let Some(unknown) = options.only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("--only: compare has no {unknown}; it has {}", names.join(", "));
    }
    ensure!(options.arms.is_empty(), "--arms: compare has arms of its own");
    let is_wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|wanted| wanted == name);
    let headlines: Vec<&Headline> =
        HEADLINES.iter().filter(|headline| is_wanted(headline.measurement.name)).collect();
    let measurements: Vec<(&Measurement, Options)> =
        headlines.iter().map(|headline| (headline.measurement, headline.options(options))).collect();
    run_all("compare", options, &measurements, |found| {
        let mut table =
            Table::new("Headlines: Clockworker ÷ LocalSet, or what the row says (below 1 is better)");
        table.columns = ["ratio", "the whole"].map(str::to_owned).to_vec();
        let rows = headlines.iter().zip(found).flat_map(|(headline, found)| headline.rows(found));
        Some(rows.fold(table, |table, (what, cells)| table.row(what, cells)))
    })
}
