//! Promise 16: a queue that always has work gets what it is owed, whatever the others do.
//!
//! An adversary searches for what the others can do to one queue, the victim: programs of moves that are made over and over,
//! on `Eevdf` alone and on the executor. How far the victim falls short of its part of the thread, in any stretch of time, is
//! divided by the bound (`bounds.rs`).

mod books;
mod draw;
mod eevdf;
mod executor;
mod known;
mod program;
mod search;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};

use crate::BadRequest;
use crate::cases::bar;
use crate::figure::{self, Figure, Number, at_most};
use program::{Move, Program};
use search::{Limit, Search, Trial};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// What is attacked.
    #[arg(long, value_enum, default_value_t = Subjects::Both)]
    subject: Subjects,
    /// How long to search, in all.
    #[arg(long, value_name = "N", default_value = "30", value_parser = minutes)]
    minutes: Duration,
    /// A search of seconds, the same each time.
    #[arg(long, conflicts_with = "minutes")]
    quick: bool,
    /// The seed of the first climb; the next has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Starts from random programs only, and not from attacks that people thought of.
    #[arg(long)]
    random_only: bool,
    /// Plays the program in FILE, as this command prints them, and searches for nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["subject", "minutes", "quick", "seed", "random_only"])]
    replay: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Subjects {
    /// `Eevdf` alone, in virtual time.
    Eevdf,
    /// The executor, on a manual clock.
    Executor,
    /// The one, then the other.
    Both,
}

/// Moves and polls of the quick form, for each subject: some seconds.
const QUICK_EEVDF: u64 = 100_000_000;
const QUICK_EXECUTOR: u64 = 25_000_000;

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    if let Some(path) = &options.replay {
        return replay(path);
    }
    let mut figures = Vec::new();
    if options.subject != Subjects::Executor {
        figures.extend(search(options, QUICK_EEVDF, known::to_eevdf())?);
    }
    if options.subject != Subjects::Eevdf {
        figures.extend(search(options, QUICK_EXECUTOR, known::to_executor())?);
    }
    Ok(figures)
}

fn search<M: Move>(options: &Options, quick: u64, known: Vec<Program<M>>) -> anyhow::Result<Vec<Figure>> {
    let bar = bar(1_000);
    bar.set_message(M::SUBJECT);
    let limit = match options.subject {
        _ if options.quick => Limit::Operations(quick),
        Subjects::Both => Limit::Time(options.minutes / 2),
        Subjects::Eevdf | Subjects::Executor => Limit::Time(options.minutes),
    };
    let known = if options.random_only { Vec::new() } else { known };
    let search = Search::new(limit, options.seed, known);
    let found = search.run(|part| bar.set_position((1_000.0 * part) as u64))?;
    bar.finish_and_clear();
    let mut figures = vec![
        told::<M>("programs tried", found.programs),
        told::<M>("moves and polls in them", found.operations),
        told::<M>("climbs", found.climbs),
    ];
    if let Some((programs, after)) = found.broken {
        figures.push(told::<M>("programs tried up to the first that breaks the bound", programs));
        figures.push(told::<M>("seconds up to then", after.as_secs_f64()));
    }
    if let Some((worst, seed)) = found.worst {
        let worst = Trial::at_length(worst.program)?.simplified()?;
        figures.extend(verdict(&worst));
        figures.extend(seed.map(|seed| told::<M>("the seed of its climb", seed)));
        show(&worst);
    }
    let [_, own, all] = found.beyond;
    figures.push(told::<M>("greatest shortfall / bound, both less the victim's own slice", own));
    figures.push(told::<M>("greatest shortfall / bound, both less everybody's slice", all));
    figures.extend(billed::<M>(found.billing));
    Ok(figures)
}

fn verdict<M: Move>(trial: &Trial<M>) -> [Figure; 3] {
    let outcome = &trial.outcome;
    let growth = format!("what each further third of {} cycles adds to it", outcome.cycles);
    [
        at_most(16, format!("{}: greatest shortfall / bound", M::SUBJECT), outcome.ratio(), 1.0),
        told::<M>(&growth, outcome.growth()),
        told::<M>("milliseconds of service in them", outcome.served as f64 / 1e6),
    ]
}

/// What a subject that bills time billed wrongly.
fn billed<M: Move>([queue, all]: [f64; 2]) -> Vec<Figure> {
    if !M::BILLS {
        return Vec::new();
    }
    vec![
        told::<M>("`busy` of a queue is off by at most, % of all service", 100.0 * queue),
        told::<M>("`busy` of all queues is off by at most, % of all service", 100.0 * all),
    ]
}

fn told<M: Move>(what: &str, value: impl Number) -> Figure {
    figure::told(16, format!("{}: {what}", M::SUBJECT), value)
}

#[allow(clippy::print_stderr, reason = "where to look")]
fn show<M: Move>(trial: &Trial<M>) {
    let outcome = &trial.outcome;
    let ([one, two, all], cycles) = (outcome.ratios, outcome.cycles);
    eprintln!("# the worst program (again: adversary --replay FILE)");
    eprintln!(
        "# shortfall / bound after a third, two thirds and all of {cycles} cycles: {one:.6}, {two:.6}, {all:.6}"
    );
    eprintln!("{}", trial.program);
}

fn replay(path: &Path) -> anyhow::Result<Vec<Figure>> {
    let wrong = || BadRequest(format!("'{}' has no program", path.display()));
    let text = fs::read_to_string(path).with_context(wrong)?;
    // Lines that begin with `#` are shown with a program, and are none of it.
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let program: serde_json::Value = serde_json::from_str(&lines.join("\n")).with_context(wrong)?;
    match program["subject"].as_str() {
        Some(eevdf::Act::SUBJECT) => play(Program::<eevdf::Act>::read(program).with_context(wrong)?),
        Some(executor::Act::SUBJECT) => play(Program::<executor::Act>::read(program).with_context(wrong)?),
        _ => Err(anyhow!("the subject is 'eevdf' or 'executor'").context(wrong())),
    }
}

fn play<M: Move>(program: Program<M>) -> anyhow::Result<Vec<Figure>> {
    let trial = Trial::at_length(program)?;
    let mut figures = verdict(&trial).to_vec();
    figures.extend(billed::<M>(trial.outcome.billing));
    Ok(figures)
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok().filter(|&minutes| minutes > 0.0 && minutes < 1e6);
    minutes
        .map(|minutes| Duration::from_secs_f64(60.0 * minutes))
        .ok_or_else(|| "it is a number above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_a_number_above_0() {
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        assert!(["0", "-1", "NaN", "inf", "1e9", "soon", ""].iter().all(|text| minutes(text).is_err()));
    }

    #[test]
    fn what_was_written_is_played_again() {
        let path = std::env::temp_dir().join(format!("clockworker-adversary-{}.json", std::process::id()));
        let replay = |program: &dyn ToString| {
            fs::write(&path, format!("# the worst\n{}", program.to_string())).unwrap();
            let figures = replay(&path);
            fs::remove_file(&path).unwrap();
            figures
        };
        let known = known::to_eevdf().swap_remove(0);
        let ratio = Trial::at_length(known.clone()).unwrap().outcome.ratio();
        assert_eq!(replay(&known).unwrap()[0].value, ratio);
        assert!(replay(&known::to_executor()[0]).unwrap()[0].value > 0.0);
        let wrong = replay(&"{\"subject\": \"tokio\"}").unwrap_err();
        assert!(wrong.is::<BadRequest>() && format!("{wrong:#}").contains("'eevdf' or 'executor'"));
    }
}
