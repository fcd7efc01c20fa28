//! A measurement's command, from the request to the printed report.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::experiment::Experiment;
use super::facts::Facts;
use super::heading::{Heading, command_of_this_run, note};
use super::measurement::{Measurement, Plan};
use super::options::Common;
use super::pinning::Pinning;
use super::report::{Cell, Report};
use super::workers::Workers;
use super::{rounds, target, workers};
use crate::failure::Failure;
use crate::numbers::grouped;
use crate::page::text;
use crate::stats::conclusion::{Conclusion, Verdict};
use crate::terminal;
use crate::whole_file::WholeFile;

/// Carries out a measurement's command: everything that can be refused is refused before anything is measured.
pub fn command<M: Measurement>(options: &M::Options) -> Result<(), Failure> {
    if options.as_ref().is_worker {
        return workers::work::<M>(options);
    }
    let file = options.as_ref().json.as_deref().map(WholeFile::at).transpose()?;
    let pinning = Pinning::detect();
    let plan = M::plan(options, &pinning)?;
    if let Some(expected) = expected(&plan, options.as_ref()) {
        terminal::print_text(&format!("{expected}\n\n"))?;
    }
    let folder = M::artefacts(options);
    let folder = folder.map(|parent| target::folder_of_run(&parent, options.as_ref().seed)).transpose()?;
    let report = run::<M>(plan, options, &pinning)?;
    let printed = printed(&report);
    if let Some(folder) = folder {
        write_json(&report, WholeFile::at(&folder.join("result.json"))?)?;
        WholeFile::at(&folder.join("report.txt"))?.write(|out| out.write_all(printed.as_bytes()))?;
    }
    if let Some(file) = file {
        write_json(&report, file)?;
    }
    terminal::print_text(&printed)?;
    M::judge(&report)?;
    if options.as_ref().enforce { enforce(&report.bars) } else { Ok(()) }
}

/// Fails if a bar is missed. One that is undecided is not.
fn enforce(bars: &[Conclusion]) -> Result<(), Failure> {
    match bars.iter().filter(|bar| bar.verdict == Some(Verdict::Missed)).count() {
        0 => Ok(()),
        missed => Err(Failure::run(format_args!("bars that are missed: {missed}"))),
    }
}

fn write_json(report: &impl Serialize, file: WholeFile) -> Result<(), Failure> {
    file.write(|mut out| {
        serde_json::to_writer(&mut out, report)?;
        out.write_all(b"\n")
    })
}

fn printed<M: Measurement>(report: &Report<M>) -> String {
    let heading = &report.heading;
    let facts = format!("seed {}\n{}\n", heading.arguments.as_ref().seed, heading.facts);
    text::write(heading.note.as_deref(), &(M::CHAPTER)(report), &facts)
}

fn run<M: Measurement>(
    plan: Plan<M::Shape>,
    options: &M::Options,
    pinning: &Pinning,
) -> Result<Report<M>, Failure> {
    let facts = Facts::gather(pinning, M::HOST);
    let mut cells = Vec::new();
    let all = plan.len();
    let mut workers = match processes::<M>(options.as_ref()) {
        1 => None,
        number => Some(Workers::start(number)?),
    };
    for (part, mut experiment) in plan.into_iter().enumerate() {
        let name = if all > 1 { format!("{} {}/{all}", M::NAME, part + 1) } else { M::NAME.to_owned() };
        let rounds = experiment.rounds().most(experiment.wanted(options.as_ref()), options.as_ref().quick);
        let progress = progress(name, rounds.into());
        cells.extend(match &mut workers {
            None => measure(&mut *experiment, part as u64, options.as_ref(), pinning, &progress)?,
            Some(workers) => {
                rounds::run_apart(&*experiment, workers, part as u64, options.as_ref(), &progress)?
            }
        });
        progress.finish_and_clear();
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

fn processes<M: Measurement>(options: &Common) -> u32 {
    options.processes.unwrap_or(if options.quick { 1 } else { M::PROCESSES })
}

/// Processes inherit the cores of the thread that starts them, so this thread is pinned only while samples are taken.
fn measure<S>(
    experiment: &mut dyn Experiment<S>,
    part: u64,
    options: &Common,
    pinning: &Pinning,
    progress: &ProgressBar,
) -> Result<Vec<Cell<S>>, Failure> {
    experiment.start()?;
    pinning.pin(experiment.side());
    let cells = rounds::run(experiment, part, options, progress);
    pinning.release();
    cells
}

/// A bar of so many steps, if standard error is a terminal. The thread that calls it draws it, and only when it does:
/// nothing ticks beside a measurement.
pub(crate) fn progress(name: impl Into<String>, steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>14} {bar:40} {pos}/{len} {elapsed} {msg}");
    let bar =
        ProgressBar::new(steps).with_prefix(name.into()).with_style(style.expect("the template is valid"));
    bar.tick();
    bar
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Estimate;
    use crate::stats::conclusion::{Bar, Interval};

    #[test]
    fn a_missed_bar_is_the_exit_status_and_an_undecided_one_is_not() {
        let value = Estimate { median: 0.5, low: 0.4, high: 0.6 };
        let bar =
            |limit| Conclusion::new("x".to_owned(), value, Interval::Confidence95, Some(Bar::AtMost(limit)));
        assert!(enforce(&[bar(0.7), bar(0.5)]).is_ok());
        let failure = enforce(&[bar(0.7), bar(0.5), bar(0.3)]).unwrap_err();
        assert_eq!((failure.status(), failure.to_string().as_str()), (1, "bars that are missed: 1"));
    }
}
