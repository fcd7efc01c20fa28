//! The command `compare`: the headline of each measurement, in one run.

use anyhow::{Context, Result, bail};
use clap::{Args, Parser};

use crate::cli::{Command, Line};
use crate::harness::{Measurement, Options, run};

/// The measurements, with what each is asked for.
const HEADLINES: [&str; 4] = [
    "micro --only spawn,poll,hop --rounds 8 --arms clockworker,two_queues,qlas,las,serpt,fair_groups",
    "service --only kv --rounds 6 --compactors 4,16 --arms imports,two_queues",
    "priority --only published_shape --rounds 3",
    "tail --only order --rounds 6",
];

#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    pub options: Options,
}

impl Compare {
    /// Runs them one after the other. `line` are the arguments of this command.
    pub fn run(&self, line: &[String]) -> Result<()> {
        if let Some(unknown) =
            self.options.only.iter().find(|name| HEADLINES.iter().all(|one| name_of(one) != **name))
        {
            bail!("--only: compare has no part {unknown}; it has {}", HEADLINES.map(name_of).join(", "));
        }
        let lines = self.lines();
        let commands = lines.iter().map(|line| command(line)).collect::<Result<Vec<_>>>()?;
        let measurements: Vec<(Vec<String>, &dyn Measurement)> =
            lines.into_iter().zip(commands.iter().filter_map(Command::measurement)).collect();
        run::run(line, &self.options, &measurements)
    }

    /// The arguments of each measurement that is wanted: `--only` names measurements here.
    fn lines(&self) -> Vec<Vec<String>> {
        let Options { quick, rounds, seed, only, .. } = &self.options;
        let wanted = |headline: &&&str| only.is_empty() || only.iter().any(|name| name == name_of(headline));
        let line = |headline: &&str| {
            let mut line: Vec<String> = headline.split(' ').map(str::to_owned).collect();
            line.push(format!("--seed={seed}"));
            line.extend(rounds.map(|rounds| format!("--rounds={rounds}")));
            line.extend(quick.then(|| "--quick".to_owned()));
            line
        };
        HEADLINES.iter().filter(wanted).map(line).collect()
    }
}

/// The measurement's command.
fn name_of(headline: &str) -> &str {
    headline.split(' ').next().unwrap_or_default()
}

fn command(line: &[String]) -> Result<Command> {
    let line = ["clockworker-benches"].into_iter().chain(line.iter().map(String::as_str));
    Ok(Line::try_parse_from(line).context("a headline is a command")?.command)
}

#[cfg(test)]
mod tests {
    use super::*;

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
