//! What a recording says of its last seconds: a line on the whole, a table of the queues, and one of the series.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, SystemTime};

use clockworker_observe::recorder::{QueueSample, Recording, Values};

/// What stands where there is nothing.
const NOTHING: &str = "–";

/// A line of a table: the names of its columns, and what stands in them.
type Row = Vec<(&'static str, String)>;

/// Of so many seconds, up to the last period.
pub(crate) fn text(recording: &Recording, over: u64) -> String {
    let mut took_ns = 0;
    let begin = recording.periods.iter().rposition(|period| {
        took_ns += period.took_ns;
        took_ns >= over * 1_000_000_000
    });
    let periods = &recording.periods[begin.unwrap_or(0)..];
    let seconds = took_ns as f64 / 1e9;
    let rate = |count: u64| number(if seconds > 0.0 { count as f64 / seconds } else { 0.0 });

    // By number, from the last period back: names, shares and lives are as they were last.
    let mut queues: BTreeMap<u32, QueueSample> = BTreeMap::new();
    for queue in periods.iter().rev().flat_map(|period| &period.queues) {
        match queues.entry(queue.number) {
            Entry::Vacant(entry) => drop(entry.insert(queue.clone())),
            Entry::Occupied(mut entry) => entry.get_mut().add_earlier(queue),
        }
    }
    let all_owed = queues.values().map(owed).sum();
    let all_busy = queues.values().map(|queue| queue.busy_ns as f64).sum();
    let queues = queues.values().map(|queue| {
        vec![
            ("queue", queue.name.clone()),
            ("share", queue.share.to_string()),
            ("owed", percent(owed(queue), all_owed)),
            ("got", percent(queue.busy_ns as f64, all_busy)),
            ("polls/s", rate(queue.polls)),
            ("wait p99", time(queue.wait_p99_ns)),
            ("longest poll", time(queue.longest_poll_ns)),
            ("late slices", grouped(queue.overruns)),
            ("ready", grouped(queue.ready)),
            ("live", grouped(queue.live)),
            ("refused", grouped(queue.refused)),
            ("panicked", grouped(queue.panicked)),
        ]
    });
    let series = recording.pending.iter().enumerate().map(|(nth, pending)| {
        let mut values = Values::default();
        let samples = periods.iter().filter_map(|period| period.series.get(nth));
        samples.for_each(|series| values.add(&series.values));
        let known = |text: String| if values.count > 0 { text } else { NOTHING.to_owned() };
        vec![
            ("series", pending.name.clone()),
            ("values/s", rate(values.count)),
            ("sum/s", rate(values.sum)),
            ("mean", known(number(values.sum as f64 / values.count as f64))),
            ("least", known(grouped(values.min))),
            ("greatest", known(grouped(values.max))),
            ("pending", grouped(pending.values.count)),
        ]
    });

    let updated = Duration::from_nanos(periods.last().map_or(0, |period| period.at_ns));
    let updated = humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + updated);
    let busy_ns: u64 = periods.iter().map(|period| period.busy_ns).sum();
    let (busy, process) = (percent(busy_ns as f64 / 1e9, seconds), recording.process);
    let head = format!("process {process}, recorded until {updated}, {busy} busy over {seconds:.1} s");
    let (queues, series): (Vec<Row>, Vec<Row>) = (queues.collect(), series.collect());
    [head, table(&queues), table(&series)].concat()
}

/// A blank line, and the table: names on the left, numbers on the right. Nothing if it has no rows.
fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let head: Row = first.iter().map(|(name, _)| (*name, (*name).to_owned())).collect();
    let rows: Vec<&Row> = [&head].into_iter().chain(rows).collect();
    let mut text = String::new();
    for row in &rows {
        text += "\n";
        for (column, (_, cell)) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].1.chars().count()).max().unwrap_or(0);
            text += &if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
        }
    }
    format!("\n{text}")
}

/// The share of a queue that had something to do.
fn owed(queue: &QueueSample) -> f64 {
    if queue.polls > 0 || queue.ready > 0 { queue.share as f64 } else { 0.0 }
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
    if ns == 0 { NOTHING.to_owned() } else { format!("{:.1?}", Duration::from_nanos(ns)) }
}
