//! A measurement's command, from the request to the printed report.

use std::time::Duration;

use super::artefacts::Artefacts;
use super::experiment::Experiment;
use super::facts::Facts;
use super::heading::{Heading, command_of_this_run, note};
use super::measurement::{Measurement, Plan};
use super::options::Common;
use super::pinning::Pinning;
use super::progress::Progress;
use super::report::{Cell, Report};
use super::rounds;
use crate::failure::Failure;
use crate::numbers::grouped;
use crate::page::text;
use crate::terminal;
use crate::whole_file::WholeFile;

/// Carries out a measurement's command: everything that can be refused is refused before anything is measured.
pub fn command<M: Measurement>(options: &M::Options) -> Result<(), Failure> {
    let file = options.as_ref().json.as_deref().map(WholeFile::at).transpose()?;
    let pinning = Pinning::detect();
    let plan = M::plan(options, &pinning)?;
    if let Some(expected) = expected(&plan, options.as_ref()) {
        terminal::print_text(&format!("{expected}\n\n"))?;
    }
    let folder = M::artefacts(options);
    let artefacts = folder.map(|folder| Artefacts::create(&folder, options.as_ref().seed)).transpose()?;
    let report = run::<M>(plan, options, &pinning)?;
    let printed = printed(&report);
    if let Some(artefacts) = artefacts {
        artefacts.write(&report, &printed)?;
    }
    if let Some(file) = file {
        file.write(|mut out| {
            serde_json::to_writer(&mut out, &report)?;
            out.write_all(b"\n")
        })?;
    }
    terminal::print_text(&printed)
}

fn printed<M: Measurement>(report: &Report<M>) -> String {
    let heading = &report.heading;
    let facts = format!("seed {}\n{}\n", heading.arguments.as_ref().seed, heading.facts);
    text::write(heading.note.as_deref(), &M::chapter(report), &facts)
}

fn run<M: Measurement>(
    plan: Plan<M::Shape>,
    options: &M::Options,
    pinning: &Pinning,
) -> Result<Report<M>, Failure> {
    let facts = Facts::gather(pinning, M::HOST);
    let mut cells = Vec::new();
    let all = plan.len();
    for (part, mut experiment) in plan.into_iter().enumerate() {
        let name = if all > 1 { format!("{} {}/{all}", M::NAME, part + 1) } else { M::NAME.to_owned() };
        cells.extend(measure(&mut *experiment, part as u64, name, options.as_ref(), pinning)?);
    }
    let heading = Heading {
        schema: M::SCHEMA.to_owned(),
        schema_version: M::SCHEMA_VERSION,
        note: note(options.as_ref().quick).map(str::to_owned),
        command_line: command_of_this_run(),
        arguments: options.clone(),
        facts: facts.completed(),
    };
    let mut bars = M::bars(options, &cells);
    if heading.note.is_some() {
        bars.iter_mut().for_each(|bar| (bar.bar, bar.verdict) = (None, None));
    }
    Ok(Report { heading, cells, bars })
}

/// Processes inherit the cores of the thread that starts them, so this thread is pinned only while samples are taken.
fn measure<S>(
    experiment: &mut dyn Experiment<S>,
    part: u64,
    name: String,
    options: &Common,
    pinning: &Pinning,
) -> Result<Vec<Cell<S>>, Failure> {
    experiment.start()?;
    pinning.pin(experiment.side());
    let rounds = experiment.rounds().most(experiment.wanted(options), options.quick);
    let progress = Progress::start(name, rounds.into());
    let cells = rounds::run(experiment, part, options, &progress);
    progress.finish();
    pinning.release();
    cells
}

/// How long all experiments are going to take, in words, if they know, and it is worth telling.
fn expected<S>(plan: &Plan<S>, options: &Common) -> Option<String> {
    let takes = |experiment: &dyn Experiment<S>| {
        let rounds = experiment.rounds();
        let number = rounds.most(experiment.wanted(options), options.quick) + u32::from(rounds.warms_up);
        Some(experiment.round_takes()? * number)
    };
    let all: Duration = plan.iter().map(|experiment| takes(&**experiment)).sum::<Option<Duration>>()?;
    let counted =
        |number: u64, what| format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" });
    let (parts, minutes) =
        (counted(plan.len() as u64, "part"), counted((all.as_secs_f64() / 60.0).ceil() as u64, "minute"));
    (!options.quick).then(|| format!("{parts}, about {minutes}"))
}
