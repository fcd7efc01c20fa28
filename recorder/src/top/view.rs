//! [`View`]: the table, made of a recording.

use std::fmt;
use std::time::{Duration, SystemTime};

use clockworker_recorder::{Period, Recording, Sample, SeriesRecording, Values};
use clockworker_terminal::numbers;
use clockworker_terminal::table::Table;

/// What is shown.
pub(crate) struct View {
    /// Above the table.
    pub(crate) head: String,
    pub(crate) table: Table,
    /// The program's own series. Without rows if it has none.
    pub(crate) series: Table,
}

/// What a queue did in the seconds that are looked at.
struct Row {
    name: String,
    sample: Sample,
    /// Parts of what all queues had.
    owed: f64,
    got: f64,
    seconds: f64,
}

/// What was recorded into a series in these seconds.
struct SeriesRow {
    name: String,
    values: Values,
    pending: u64,
    seconds: f64,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", self.head, self.table)?;
        if self.series.rows.is_empty() { Ok(()) } else { writeln!(f, "{}", self.series) }
    }
}

impl View {
    /// Over so many seconds, up to the last that was recorded.
    pub(crate) fn of(recording: &Recording, over: u64) -> Self {
        let last = recording.updated_ns / 1_000_000_000;
        let from = (last + 1).saturating_sub(over);
        let queues: Vec<(String, Sample)> = recording
            .queues
            .iter()
            .filter_map(|queue| {
                let periods = by_length(over, &queue.seconds, &queue.tens, &queue.minutes);
                Some((queue.name.clone(), sum(periods, from, Sample::add)?))
            })
            .collect();
        let total = |of: fn(&Sample) -> u64| queues.iter().map(|(_, sample)| of(sample)).sum::<u64>() as f64;
        let (busy, shares) = (total(|sample| sample.busy_ns), total(owed_share));
        // The recording may be younger.
        let seconds = over.min((last + 1).saturating_sub(recording.started_ns / 1_000_000_000)).max(1) as f64;
        let rows = queues.into_iter().map(|(name, sample)| Row {
            name,
            sample,
            owed: part(owed_share(&sample) as f64, shares),
            got: part(sample.busy_ns as f64, busy),
            seconds,
        });
        let executor = &recording.executor;
        let executor = by_length(over, &executor.seconds, &executor.tens, &executor.minutes);
        let head = head(recording, sum(executor, from, Sample::add), seconds);
        let series = recording.series.iter().map(|series| series_row(series, from, over, seconds));
        Self { head, table: table(rows), series: series_table(series) }
    }
}

/// The share of a queue that had something to do.
fn owed_share(sample: &Sample) -> u64 {
    if sample.polls > 0 || sample.ready > 0 { sample.share } else { 0 }
}

fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 { of / whole } else { 0.0 }
}

/// The finest series that goes back so far.
fn by_length<'a, S>(
    over: u64,
    seconds: &'a [Period<S>],
    tens: &'a [Period<S>],
    minutes: &'a [Period<S>],
) -> &'a [Period<S>] {
    match over {
        0..=600 => seconds,
        601..=3_600 => tens,
        _ => minutes,
    }
}

/// What happened from that second on. None if nothing was recorded.
fn sum<S: Copy>(periods: &[Period<S>], from: u64, add: fn(&mut S, &S)) -> Option<S> {
    let mut periods = periods.iter().filter(|period| period.began >= from);
    let mut sum = periods.next()?.sample;
    periods.for_each(|period| add(&mut sum, &period.sample));
    Some(sum)
}

fn series_row(series: &SeriesRecording, from: u64, over: u64, seconds: f64) -> SeriesRow {
    let periods = by_length(over, &series.seconds, &series.tens, &series.minutes);
    let values = sum(periods, from, Values::add).unwrap_or_default();
    SeriesRow { name: series.name.clone(), values, pending: series.pending.count, seconds }
}

fn head(recording: &Recording, executor: Option<Sample>, seconds: f64) -> String {
    let updated = SystemTime::UNIX_EPOCH + Duration::from_nanos(recording.updated_ns);
    let busy = executor.map_or(0.0, |sample| sample.busy_ns as f64 / 1e9 / seconds);
    let mut head = format!(
        "process {}, recorded until {}, {} busy over {} s",
        recording.process,
        humantime::format_rfc3339_seconds(updated),
        numbers::percent(busy),
        seconds
    );
    if recording.left_out > 0 {
        head += &format!("; {} samples of more queues are left out", recording.left_out);
    }
    head
}

fn table(rows: impl Iterator<Item = Row>) -> Table {
    Table::of(
        "",
        rows,
        [
            ("queue", |row: &Row| row.name.clone()),
            ("share", |row| row.sample.share.to_string()),
            ("owed", |row| numbers::percent(row.owed)),
            ("got", |row| numbers::percent(row.got)),
            ("polls/s", |row| numbers::number(row.sample.polls as f64 / row.seconds)),
            ("wait p99", |row| time(row.sample.wait_p99_ns)),
            ("longest poll", |row| time(row.sample.longest_poll_ns)),
            ("late slices", |row| numbers::grouped(row.sample.overruns)),
            ("ready", |row| numbers::grouped(row.sample.ready)),
            ("live", |row| numbers::grouped(row.sample.live)),
            ("refused", |row| numbers::grouped(row.sample.refused)),
            ("panicked", |row| numbers::grouped(row.sample.panicked)),
        ],
    )
}

fn series_table(rows: impl Iterator<Item = SeriesRow>) -> Table {
    Table::of(
        "",
        rows,
        [
            ("series", |row: &SeriesRow| row.name.clone()),
            ("values/s", |row| numbers::number(row.values.count as f64 / row.seconds)),
            ("sum/s", |row| numbers::number(row.values.sum as f64 / row.seconds)),
            ("mean", |row| row.values.mean().map_or_else(|| numbers::NOTHING.into(), numbers::number)),
            ("least", |row| one_of(&row.values, row.values.min)),
            ("greatest", |row| one_of(&row.values, row.values.max)),
            ("pending", |row| numbers::grouped(row.pending)),
        ],
    )
}

/// Nothing where there are no values.
fn one_of(values: &Values, value: u64) -> String {
    if values.count == 0 { numbers::NOTHING.into() } else { numbers::grouped(value) }
}

/// Nothing where nothing was timed.
fn time(ns: u64) -> String {
    if ns == 0 { numbers::NOTHING.into() } else { numbers::time(ns as f64) }
}
