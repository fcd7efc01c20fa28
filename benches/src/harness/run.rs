//! A run of a command: from what was asked for to the tables, in text, JSON and Markdown.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::comparison::{Comparison, Ratio};
use super::experiment::Experiment;
use super::facts::{Facts, machine};
use super::file::WholeFile;
use super::options::{Options, without_files};
use super::pinning::Pinning;
use super::rounds::{places, windows};
use super::table::Table;
use super::worker::{self, Source};

/// A command that measures something.
pub trait Measurement {
    /// The command's name.
    fn name(&self) -> &'static str;

    /// What it answers.
    fn question(&self) -> &'static str;

    fn options(&self) -> &Options;

    /// What it compares. Nothing is measured yet.
    fn experiments(&self, pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>>;

    /// What is shown of that. With `--only` some comparisons are missing.
    fn tables(&self, found: &[Comparison]) -> Vec<Table>;
}

/// Rounds of a quick run.
const QUICK_ROUNDS: u32 = 2;

/// What a run found.
#[derive(Serialize)]
pub struct Run {
    command: String,
    seed: u64,
    /// Why it measures nothing, if it does not.
    note: Option<&'static str>,
    facts: Facts,
    measurements: Vec<Found>,
    #[serde(skip)]
    summary: Option<Table>,
}

/// What a measurement found.
#[derive(Serialize)]
pub struct Found {
    pub name: &'static str,
    question: &'static str,
    pub comparisons: Vec<Comparison>,
    #[serde(skip)]
    tables: Vec<Table>,
}

/// Runs measurements, each with the arguments that make a process of this program have it, and writes what they found.
/// `line` are the arguments of the command, the first of which is its name.
pub fn run(
    line: &[String],
    options: &Options,
    measurements: &[(Vec<String>, &dyn Measurement)],
) -> Result<()> {
    run_with_summary(line, options, measurements, |_| None)
}

/// As [`run`], with a table of what the measurements found, at the end of the text and at the start of the Markdown.
pub fn run_with_summary(
    line: &[String],
    options: &Options,
    measurements: &[(Vec<String>, &dyn Measurement)],
    summary: impl FnOnce(&[Found]) -> Option<Table>,
) -> Result<()> {
    if options.worker {
        let [(_, measurement)] = measurements else { bail!("a worker has one measurement") };
        return worker::work(*measurement);
    }
    let pinning = Pinning::detect();
    let name = line.first().map_or("", String::as_str);
    let json = options.json.as_deref().map(WholeFile::at).transpose()?;
    let markdown =
        options.markdown.as_deref().map(|path| WholeFile::at(&in_folder(path, name))).transpose()?;
    let facts = Facts::gather(&pinning);
    let found = measurements.iter().map(|(line, measurement)| measure(*measurement, line, &pinning));
    let measurements = found.collect::<Result<Vec<_>>>()?;
    let command = format!("cargo run --release -p clockworker-benches -- {}", without_files(line).join(" "));
    let (note, summary) = (note(options.quick), summary(&measurements));
    let run = Run { command, seed: options.seed, note, facts, measurements, summary };
    if let Some(file) = json {
        file.write(&format!("{}\n", serde_json::to_string(&run)?))?;
    }
    if let Some(file) = markdown {
        file.write(&run.markdown(name))?;
    }
    io::stdout().lock().write_all(run.text().as_bytes())?;
    Ok(())
}

/// The path of a Markdown file: in a folder, it has a place by machine and command.
fn in_folder(path: &Path, name: &str) -> PathBuf {
    let is_folder = path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
    if is_folder { path.join(machine()).join(name).with_extension("md") } else { path.to_owned() }
}

fn note(quick: bool) -> Option<&'static str> {
    match (quick, cfg!(debug_assertions)) {
        (true, _) => Some("quick: measures nothing"),
        (false, true) => Some("debug build: measures nothing"),
        (false, false) => None,
    }
}

/// The experiments of the parts that are asked for, each with its number among all.
pub fn chosen(measurement: &dyn Measurement, pinning: &Pinning) -> Result<Vec<(usize, Box<dyn Experiment>)>> {
    let experiments = measurement.experiments(pinning)?;
    let only = &measurement.options().only;
    if let Some(unknown) = only.iter().find(|part| experiments.iter().all(|one| one.part() != **part)) {
        let mut parts: Vec<&str> = experiments.iter().map(|experiment| experiment.part()).collect();
        parts.dedup();
        bail!("--only: {} has no part {unknown}; it has {}", measurement.name(), parts.join(", "));
    }
    let is_wanted =
        |experiment: &dyn Experiment| only.is_empty() || only.iter().any(|part| part == experiment.part());
    Ok(experiments.into_iter().enumerate().filter(|(_, experiment)| is_wanted(&**experiment)).collect())
}

fn measure(measurement: &dyn Measurement, line: &[String], pinning: &Pinning) -> Result<Found> {
    let line = without_files(line);
    let experiments = chosen(measurement, pinning)?;
    let all = experiments.len();
    let mut comparisons = Vec::new();
    for (place, (part, mut experiment)) in experiments.into_iter().enumerate() {
        let progress = format!("{} {}/{all}", measurement.name(), place + 1);
        let source = Source::new(&line, place);
        comparisons.push(compare(&mut *experiment, part, source, measurement.options(), pinning, progress)?);
    }
    let tables = measurement.tables(&comparisons);
    Ok(Found { name: measurement.name(), question: measurement.question(), comparisons, tables })
}

fn compare(
    experiment: &mut dyn Experiment,
    part: usize,
    source: Source<'_>,
    options: &Options,
    pinning: &Pinning,
    progress: String,
) -> Result<Comparison> {
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { experiment.rounds() });
    let progress = bar(progress, experiment.title().to_owned(), rounds);
    let places = places(experiment.arms().len());
    // Processes inherit the cores of the thread that starts them, so this thread is pinned only while it takes samples.
    let takes_samples = source.begin(experiment, &places)?;
    if takes_samples {
        pinning.pin(experiment.side());
    }
    let mut samples = Vec::new();
    for round in 0..rounds {
        let windows = windows(options.seed, part, round, &places, experiment.phases());
        samples.extend(source.take(experiment, windows)?);
        progress.inc(1);
    }
    pinning.release();
    progress.finish_and_clear();
    Ok(Comparison::of(experiment, samples))
}

/// A bar of so many rounds, if standard error is a terminal. It is drawn between rounds only.
fn bar(name: String, title: String, rounds: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>14} {bar:30} {pos}/{len} {elapsed} {msg}");
    let bar = ProgressBar::new(rounds.into()).with_prefix(name).with_message(title);
    let bar = bar.with_style(style.expect("the template is valid"));
    bar.tick();
    bar
}

impl Run {
    fn tables(&self) -> impl Iterator<Item = &Table> {
        self.measurements.iter().flat_map(|found| &found.tables)
    }

    fn text(&self) -> String {
        let mut text = self.note.map(|note| format!("{note}\n\n")).unwrap_or_default();
        for found in &self.measurements {
            let _ = writeln!(text, "{}\n", found.question);
            found.tables.iter().for_each(|table| text.push_str(&format!("{}\n", table.text())));
        }
        let _ = writeln!(text, "{}\n", self.undecided());
        self.facts.lines().iter().for_each(|fact| text.push_str(&format!("{fact}\n")));
        let _ = writeln!(text, "seed {}", self.seed);
        self.summary.iter().for_each(|table| text.push_str(&format!("\n{}", table.text())));
        text
    }

    fn markdown(&self, name: &str) -> String {
        let mut text = format!("# {name} on {}\n\n", self.facts.machine);
        if let Some(note) = self.note {
            let _ = writeln!(text, "**{note}**\n");
        }
        for found in &self.measurements {
            let _ = writeln!(text, "{}\n", found.question);
        }
        let _ = writeln!(text, "    {}\n", self.command);
        self.facts.lines().iter().for_each(|fact| text.push_str(&format!("- {fact}\n")));
        let _ = writeln!(text, "- seed {}\n\n{HOW_TO_READ}\n", self.seed);
        self.summary
            .iter()
            .chain(self.tables())
            .for_each(|table| text.push_str(&format!("{}\n", table.markdown())));
        let _ = writeln!(text, "## Undecided\n\n{}", self.undecided());
        text
    }

    /// How many ratios say nothing, in all and in each table.
    fn undecided(&self) -> String {
        let ratios = || self.tables().flat_map(Table::ratios);
        let mut text = format!("Of {} ratios {} are undecided", ratios().count(), undecided(ratios()));
        match ratios().filter(|ratio| ratio.interval.is_none()).count() {
            0 => text.push('.'),
            without => text.push_str(&format!(", and {without} have no interval.")),
        }
        for table in self.tables().filter(|table| undecided(table.ratios()) > 0) {
            let (some, all) = (undecided(table.ratios()), table.ratios().count());
            text.push_str(&format!("\n- {}: {some} of {all}", table.title));
        }
        text
    }
}

fn undecided<'a>(ratios: impl Iterator<Item = &'a Ratio>) -> usize {
    ratios.filter(|ratio| ratio.undecided).count()
}

const HOW_TO_READ: &str = "\
The base has values, and the other rows have ratios to it. A ratio is the median of those within a round. In brackets is the
interval of the sign test, which contains the true median with a probability of 95 %. A ratio is undecided if its interval
contains 1, or overlaps that of the base measured again (A/A).";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_a_place_for_each_machine_and_command() {
        assert_eq!(in_folder(Path::new("some/file.md"), "micro"), Path::new("some/file.md"));
        let wanted = Path::new("results").join(machine()).join("micro.md");
        assert_eq!(in_folder(Path::new("results/"), "micro"), wanted);
    }
}
