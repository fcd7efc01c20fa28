//! A run of a command: from what was asked for to the tables, in text, JSON and Markdown.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::child::{self, Child};
use super::comparison::{Comparison, Ratio};
use super::experiment::{Experiment, Processes, Window, name, windows};
use super::facts::{Facts, machine};
use super::options::Options;
use super::pinning::Pinning;
use super::sample::Sample;
use super::table::Table;

/// A command that measures something.
pub struct Measurement {
    /// The command's name.
    pub name: &'static str,
    /// What it answers.
    pub question: &'static str,
    /// What it compares. Nothing is measured yet.
    pub experiments: fn(&Options, &Pinning) -> Vec<Experiment>,
    /// What is shown of that. With `--only` some comparisons are missing.
    pub tables: fn(&[Comparison]) -> Vec<Table>,
}

/// Rounds of a quick run.
const QUICK_ROUNDS: u32 = 2;

/// What a run found.
#[derive(Serialize)]
struct Run {
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

/// Runs a measurement, and writes what it found.
pub fn run(measurement: &Measurement, options: &Options) -> Result<()> {
    if options.worker {
        return work(measurement, options);
    }
    run_all(measurement.name, options, &[(measurement, options.clone())], |_| None)
}

/// Runs measurements, each with options of its own, for the command `name`. A table of what they found is at the end of the text and
/// at the start of the Markdown.
pub fn run_all(
    name: &str,
    options: &Options,
    measurements: &[(&Measurement, Options)],
    summary: impl FnOnce(&[Found]) -> Option<Table>,
) -> Result<()> {
    let pinning = Pinning::detect();
    let markdown = options.markdown.as_deref().map(|path| in_folder(path, name));
    // A place that cannot be written to is known before anything is measured.
    options.json.as_deref().into_iter().chain(markdown.as_deref()).try_for_each(make_folder)?;
    let facts = Facts::gather(&pinning);
    let found = measurements.iter().map(|(measurement, options)| measure(measurement, options, &pinning));
    let measurements = found.collect::<Result<Vec<_>>>()?;
    let command = format!("cargo run --release -p clockworker-benches -- {}", options.line(name).join(" "));
    let (note, summary) = (note(options.quick), summary(&measurements));
    let run = Run { command, seed: options.seed, note, facts, measurements, summary };
    io::stdout().lock().write_all(run.text().as_bytes())?;
    if let Some(path) = &options.json {
        write(path, &format!("{}\n", serde_json::to_string(&run)?))?;
    }
    if let Some(path) = &markdown {
        write(path, &run.markdown(name))?;
    }
    Ok(())
}

/// The path of a Markdown file: in a folder, it has a place by machine and command.
fn in_folder(path: &Path, name: &str) -> PathBuf {
    let is_folder = path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
    if is_folder { path.join(machine()).join(name).with_extension("md") } else { path.to_owned() }
}

fn make_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn note(quick: bool) -> Option<&'static str> {
    match (quick, cfg!(debug_assertions)) {
        (true, _) => Some("quick: measures nothing"),
        (false, true) => Some("debug build: measures nothing"),
        (false, false) => None,
    }
}

/// The experiments of the parts that are asked for, each with its number among all.
fn chosen(
    measurement: &Measurement,
    options: &Options,
    pinning: &Pinning,
) -> Result<Vec<(usize, Experiment)>> {
    let mut experiments: Vec<_> =
        (measurement.experiments)(options, pinning).into_iter().enumerate().collect();
    let parts = experiments.iter().map(|(_, experiment)| experiment.part.to_owned()).collect();
    check("--only", &options.only, parts, measurement)?;
    experiments
        .retain(|(_, one)| options.only.is_empty() || options.only.iter().any(|part| part == one.part));
    let arms = experiments.iter().flat_map(|(_, experiment)| experiment.arms.iter().map(|arm| name(arm)));
    check("--arms", &options.arms, arms.collect(), measurement)?;
    Ok(experiments)
}

/// Whether all that is asked for by name is there.
fn check(option: &str, asked: &[String], mut known: Vec<String>, measurement: &Measurement) -> Result<()> {
    let Some(unknown) = asked.iter().find(|name| !known.contains(name)) else { return Ok(()) };
    known.sort_unstable();
    known.dedup();
    bail!(
        "{option}: {} has no {unknown}; it has {} (some parts and arms need the feature axum, glommio or rivals)",
        measurement.name,
        known.join(", ")
    );
}

fn measure(measurement: &Measurement, options: &Options, pinning: &Pinning) -> Result<Found> {
    let experiments = chosen(measurement, options, pinning)?;
    let all = experiments.len();
    let mut comparisons = Vec::new();
    for (number, (part, mut experiment)) in experiments.into_iter().enumerate() {
        let progress = format!("{} {}/{all}", measurement.name, number + 1);
        let source = Source { line: options.line(measurement.name), experiment: number };
        comparisons.push(compare(&mut experiment, part, &source, options, pinning, progress)?);
    }
    let tables = (measurement.tables)(&comparisons);
    Ok(Found { name: measurement.name, question: measurement.question, comparisons, tables })
}

fn compare(
    experiment: &mut Experiment,
    part: usize,
    source: &Source,
    options: &Options,
    pinning: &Pinning,
    progress: String,
) -> Result<Comparison> {
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { experiment.rounds });
    let progress = bar(progress, experiment.title.clone(), rounds);
    let places = experiment.places(&options.arms);
    // Processes inherit the cores of the thread that starts them, so this thread is pinned only while it takes samples.
    if experiment.processes == Processes::This {
        pinning.pin(experiment.side);
    }
    let mut samples = Vec::new();
    for round in 0..rounds {
        let windows = windows(options.seed, part, round, &places);
        let taken = source.take(experiment, &windows)?;
        samples.extend(windows.into_iter().zip(taken));
        progress.inc(1);
    }
    pinning.release();
    progress.finish_and_clear();
    Ok(Comparison::of(experiment, &places, samples))
}

/// A bar of so many rounds, if standard error is a terminal. It is drawn between rounds only.
fn bar(name: String, title: String, rounds: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>14} {bar:30} {pos}/{len} {elapsed} {msg}");
    let bar = ProgressBar::new(rounds.into()).with_prefix(name).with_message(title);
    let bar = bar.with_style(style.expect("the template is valid"));
    bar.tick();
    bar
}

/// Where the samples of an experiment come from.
struct Source {
    /// The arguments that make a process of this program have the same experiments.
    line: Vec<String>,
    /// The place of the experiment among them.
    experiment: usize,
}

#[derive(Serialize, Deserialize)]
struct Question {
    experiment: usize,
    windows: Vec<Window>,
}

impl Source {
    fn take(&self, experiment: &mut Experiment, windows: &[Window]) -> Result<Vec<Sample>> {
        match experiment.processes {
            Processes::This => experiment.take(windows),
            Processes::ForARound => self.ask(windows),
            Processes::ForASample => {
                let samples = windows.chunks(1).map(|window| self.ask(window)).collect::<Result<Vec<_>>>()?;
                Ok(samples.concat())
            }
        }
    }

    /// Has a new process take samples.
    fn ask(&self, windows: &[Window]) -> Result<Vec<Sample>> {
        let mut child = Child::start(self.line.iter().map(String::as_str).chain(["--worker"]))?;
        child.ask(&Question { experiment: self.experiment, windows: windows.to_vec() })
    }
}

/// Is such a process.
fn work(measurement: &Measurement, options: &Options) -> Result<()> {
    let pinning = Pinning::detect();
    let mut experiments = chosen(measurement, options, &pinning)?;
    child::answer(|Question { experiment, windows }: Question| {
        let (_, experiment) = experiments.get_mut(experiment).context("there is no such experiment")?;
        pinning.pin(experiment.side);
        if experiment.processes == Processes::ForARound && !options.quick {
            // What is only there the first time, as memory that has never been used, is not measured.
            experiment.take(&windows)?;
        }
        experiment.take(&windows)
    })
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
        let _ = writeln!(text, "{}\n\n{}", self.undecided(), self.command);
        self.facts.lines().iter().for_each(|fact| text.push_str(&format!("{fact}\n")));
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
        let _ = writeln!(text, "\n{HOW_TO_READ}\n");
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
The base has values, and the other rows have ratios to it. A value is the median of those of the rounds, and a ratio is the
median of those within a round. In brackets is the interval of the sign test, which contains the true median with a probability
of 95 %. A ratio is undecided if its interval contains 1, or overlaps that of the base measured again (A/A).";
