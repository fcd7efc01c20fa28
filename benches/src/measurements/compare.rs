//! The command `compare`: the headline of each measurement, in one run.

use anyhow::{Context, Result, bail};
use clap::{Args, Parser};

use crate::cli::{Command, Line};
use crate::harness::{Cell, Comparison, Found, Measurement, Options, Ratio, Table, run};

/// A measurement as it is asked here, and what of it is in the table at the end.
struct Headline {
    line: &'static str,
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
        line: "micro --only spawn,poll,hop --arms clockworker,fair_groups",
        rounds: 6,
        shown: &[
            shown("Spawn and join", ["spawn", "spawn, join"], ["Clockworker", "ns"]),
            shown("A task's poll that yields", ["poll", "0 tasks"], ["Clockworker", "ns"]),
            shown("… with FairGroups", ["poll", "0 tasks"], ["Clockworker, FairGroups", "ns"]),
            shown("A task wakes another", ["hop", "by Notify"], ["Clockworker", "ns"]),
        ],
    },
    Headline {
        line: "service --only kv --compactors 4,16 --arms imports,two_queues",
        rounds: 6,
        shown: &[
            shown(
                "Key-value service beside 16 compactors, imports alone: mean",
                ["kv", "16"],
                ["Clockworker by imports", "latency_ns.mean"],
            ),
            shown("… two queues, 19:1", ["kv", "16"], ["Clockworker, two queues 19:1", "latency_ns.mean"]),
        ],
    },
    Headline {
        line: "priority --only published_shape",
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
        line: "tail --only order",
        rounds: 6,
        shown: &[shown(
            "Jobs of Pareto sizes at 90 %, QLAS: p99 slowdown",
            ["order", "Pareto, α = 1.1, 10 µs to 100 ms, at 90"],
            ["Clockworker, QLAS", "slowdown.p99"],
        )],
    },
    Headline {
        line: "tenants --only flood --arms fair_groups",
        rounds: 6,
        shown: &[shown(
            "Quiet tenants beside a flood, FairGroups: p99",
            ["flood", ""],
            ["FairGroups", "beside_ns.p99"],
        )],
    },
    Headline {
        line: "programs --only mutex_across_yield,key_value,tokio_spawn_from_task",
        rounds: 8,
        shown: &[
            shown("Imports alone: a mutex held across a yield", ["mutex_across_yield", ""], IMPORTS),
            shown("Imports alone: tokio::spawn(..).await", ["tokio_spawn_from_task", ""], IMPORTS),
            shown("Imports alone: a key-value server, p99", ["key_value", ""], ["Clockworker", "p99_ns"]),
        ],
    },
];

const IMPORTS: [&str; 2] = ["Clockworker", "time_ns"];

impl Headline {
    /// The measurement's command.
    fn name(&self) -> &'static str {
        self.line.split(' ').next().unwrap_or_default()
    }

    fn rows<'a>(&'a self, found: &'a Found) -> impl Iterator<Item = (&'a str, [Cell; 2])> {
        let whole = Cell::Text(format!("cargo run --release -p clockworker-benches -- {}", self.name()));
        self.shown.iter().map(move |shown| {
            let ratio = shown.find(found).map_or(Cell::Nothing, Cell::Ratio);
            (shown.what, [ratio, whole.clone()])
        })
    }
}

impl Shown {
    fn find(&self, found: &Found) -> Option<Ratio> {
        let is_it = |one: &&Comparison| one.part == self.part && one.title.contains(self.words);
        found.comparisons.iter().find(is_it)?.figure(self.arm, self.figure)?.ratio
    }
}

/// The ratios that say most.
fn summary(found: &[Found]) -> Table {
    let mut table = Table::new("Headlines: Clockworker ÷ LocalSet, or what the row says (below 1 is better)");
    table.columns = ["ratio", "the whole"].map(str::to_owned).to_vec();
    let headlines = HEADLINES
        .iter()
        .filter_map(|headline| Some((headline, found.iter().find(|found| found.name == headline.name())?)));
    headlines
        .flat_map(|(headline, found)| headline.rows(found))
        .fold(table, |table, (what, cells)| table.row(what, cells))
}

#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    pub options: Options,
}

impl Compare {
    /// Runs them one after the other. `line` are the arguments of this command.
    pub fn run(&self, line: &[String]) -> Result<()> {
        let names: Vec<&str> = HEADLINES.iter().map(Headline::name).collect();
        if let Some(unknown) = self.options.only.iter().find(|name| !names.contains(&name.as_str())) {
            bail!("--only: compare has no part {unknown}; it has {}", names.join(", "));
        }
        let lines = self.lines();
        let commands = lines.iter().map(|line| command(line)).collect::<Result<Vec<_>>>()?;
        let measurements: Vec<(Vec<String>, &dyn Measurement)> =
            lines.into_iter().zip(commands.iter().filter_map(Command::measurement)).collect();
        run::run_with_summary(line, &self.options, &measurements, |found| Some(summary(found)))
    }

    /// The arguments of each measurement that is wanted: `--only` names measurements here.
    fn lines(&self) -> Vec<Vec<String>> {
        let Options { quick, rounds, seed, only, .. } = &self.options;
        let is_wanted = |one: &&Headline| only.is_empty() || only.iter().any(|name| name == one.name());
        let line = |headline: &Headline| {
            let mut line: Vec<String> = headline.line.split(' ').map(str::to_owned).collect();
            line.push(format!("--seed={seed}"));
            let rounds = rounds.or((!quick).then_some(headline.rounds));
            line.extend(rounds.map(|rounds| format!("--rounds={rounds}")));
            line.extend(quick.then(|| "--quick".to_owned()));
            line
        };
        HEADLINES.iter().filter(is_wanted).map(line).collect()
    }
}

fn command(line: &[String]) -> Result<Command> {
    let line = ["clockworker-benches"].into_iter().chain(line.iter().map(String::as_str));
    Ok(Line::try_parse_from(line).context("a headline is a command")?.command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Pinning;

    #[test]
    fn all_that_is_shown_is_measured() {
        let compare = Compare { options: Options { quick: true, ..Options::default() } };
        for (headline, line) in HEADLINES.iter().zip(compare.lines()) {
            let command = command(&line).unwrap();
            let experiments = run::chosen(command.measurement().unwrap(), &Pinning::detect()).unwrap();
            for Shown { what, part, words, arm, .. } in headline.shown {
                let shown =
                    experiments.iter().find(|(_, one)| one.part() == *part && one.title().contains(words));
                assert!(shown.is_some_and(|(_, one)| one.arms().iter().any(|title| title == arm)), "{what}");
            }
        }
    }

    #[test]
    fn every_headline_is_a_measurement() {
        for quick in [false, true] {
            let compare =
                Compare { options: Options { quick, rounds: Some(3), seed: 7, ..Options::default() } };
            for line in compare.lines() {
                let command = command(&line).unwrap();
                let options = command.measurement().unwrap().options();
                assert_eq!((options.quick, options.seed, options.rounds), (quick, 7, Some(3)));
            }
        }
    }
}
