//! [`View`]: a line on the whole, a table of the queues, and one of the series.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use clockworker_recorder::{Recording, Sample, Values};

const QUEUES: [&str; 12] = [
    "queue",
    "share",
    "owed",
    "got",
    "polls/s",
    "wait p99",
    "longest poll",
    "late slices",
    "ready",
    "live",
    "refused",
    "panicked",
];
const SERIES: [&str; 7] = ["series", "values/s", "sum/s", "mean", "least", "greatest", "pending"];

/// What stands where there is nothing.
const NOTHING: &str = "–";

/// What a recording says of its last seconds.
#[derive(Default)]
pub(crate) struct View {
    process: u32,
    updated: Duration,
    seconds: f64,
    busy_ns: u64,
    /// By number: the name as it was last.
    queues: BTreeMap<u32, (String, Sample)>,
    /// Each with how many values are pending.
    series: Vec<(String, Values, u64)>,
}

impl View {
    /// Of so many seconds, up to the last period.
    pub(crate) fn of(recording: &Recording, over: u64) -> Self {
        let Recording { process, periods, pending, .. } = recording;
        let updated = Duration::from_nanos(periods.last().map_or(0, |period| period.at_ns));
        let mut view = Self { process: *process, updated, ..Self::default() };
        view.series = pending
            .iter()
            .map(|series| (series.name.clone(), Values::default(), series.values.count))
            .collect();
        let mut took_ns = 0;
        let begin = periods.iter().rposition(|period| {
            took_ns += period.took_ns;
            took_ns >= over * 1_000_000_000
        });
        for period in &periods[begin.unwrap_or(0)..] {
            view.busy_ns += period.busy_ns;
            for queue in &period.queues {
                let (name, sample) = view.queues.entry(queue.number).or_default();
                queue.name.clone_into(name);
                sample.add(&queue.sample);
            }
            for (known, series) in view.series.iter_mut().zip(&period.series) {
                known.1.add(&series.values);
            }
        }
        Self { seconds: took_ns as f64 / 1e9, ..view }
    }

    fn queue_rows(&self) -> Vec<Vec<String>> {
        let samples = || self.queues.values().map(|(_, sample)| sample);
        let all_owed = samples().map(owed).sum();
        let all_busy = samples().map(|sample| sample.busy_ns as f64).sum();
        let row = |(name, sample): &(String, Sample)| {
            vec![
                name.clone(),
                sample.share.to_string(),
                percent(owed(sample), all_owed),
                percent(sample.busy_ns as f64, all_busy),
                self.rate(sample.polls),
                time(sample.wait_p99_ns),
                time(sample.longest_poll_ns),
                grouped(sample.overruns),
                grouped(sample.ready),
                grouped(sample.live),
                grouped(sample.refused),
                grouped(sample.panicked),
            ]
        };
        self.queues.values().map(row).collect()
    }

    fn series_rows(&self) -> Vec<Vec<String>> {
        let row = |(name, values, pending): &(String, Values, u64)| {
            let known = |text: String| if values.count > 0 { text } else { NOTHING.to_owned() };
            vec![
                name.clone(),
                self.rate(values.count),
                self.rate(values.sum),
                known(number(values.mean().unwrap_or_default())),
                known(grouped(values.min)),
                known(grouped(values.max)),
                grouped(*pending),
            ]
        };
        self.series.iter().map(row).collect()
    }

    fn rate(&self, count: u64) -> String {
        number(if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 })
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, seconds, .. } = self;
        let updated = humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + self.updated);
        let busy = percent(self.busy_ns as f64 / 1e9, *seconds);
        write!(f, "process {process}, recorded until {updated}, {busy} busy over {seconds:.1} s")?;
        write_table(f, &QUEUES, &self.queue_rows())?;
        write_table(f, &SERIES, &self.series_rows())
    }
}

/// A blank line, and the table: names on the left, numbers on the right. Nothing if it has no rows.
fn write_table(f: &mut fmt::Formatter<'_>, head: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let rows = || [&head].into_iter().chain(rows);
    let width = |column: usize| rows().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    writeln!(f)?;
    for row in rows() {
        write!(f, "\n{:<width$}", row[0], width = widths[0])?;
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            write!(f, "  {cell:>width$}")?;
        }
    }
    Ok(())
}

/// The share of a queue that had something to do.
fn owed(sample: &Sample) -> f64 {
    if sample.polls > 0 || sample.ready > 0 { sample.share as f64 } else { 0.0 }
}

/// In groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

fn number(value: f64) -> String {
    if value > 0.0 && value < 99.95 { format!("{value:.2}") } else { grouped(value.round() as u64) }
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", if whole > 0.0 { 100.0 * part / whole } else { 0.0 })
}

fn time(ns: u64) -> String {
    let value = ns as f64;
    match ns {
        0 => NOTHING.to_owned(),
        1..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}
