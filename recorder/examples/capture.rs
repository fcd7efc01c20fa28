//! How much is left of an executor that lives for 0.1, 1, 5 or 30 s? In a recording, and where its counters are scraped every 1, 15 or
//! 30 s.
//!
//! Time is a manual clock's, so the answer is always the same. Each millisecond one task completes, and one value is recorded. The
//! recorder is called each second, as long as the executor lives, and once more when it ends; if it is killed, then just before it
//! would have been called again, which is when it loses most. Scrapers come at any time: what is said of them is the mean over all
//! milliseconds at which the first scrape may be.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clockworker::{Executor, ManualClock};
use clockworker_recorder::{Recorder, Recording};
use clockworker_terminal::table::Table;

/// In milliseconds.
const LIFETIMES: [u64; 4] = [100, 1_000, 5_000, 30_000];
const SCRAPES: [u64; 3] = [1_000, 15_000, 30_000];

/// What is left of an executor, in percent.
struct Left {
    /// Points in time with a value, of the seconds that were begun.
    points: f64,
    /// Tasks that are known to have completed, of all.
    work: f64,
    /// How often there is anything.
    anything: f64,
}

/// One of them.
type Part = fn(&Left) -> f64;

/// A way to look, and what it finds after each lifetime.
struct Row {
    way: String,
    left: [Left; LIFETIMES.len()],
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("capture-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let rows = rows(&folder.join("recording.cwr"));
    std::fs::remove_dir_all(&folder)?;
    let rows = rows?;
    let tables: [(&str, Part); 3] = [
        ("Points in time, of the seconds that were begun", |left| left.points),
        ("Work that is accounted for", |left| left.work),
        ("Executors of which anything is known", |left| left.anything),
    ];
    for (caption, part) in tables {
        println!("{caption}:\n\n{}", table(&rows, part).markdown());
    }
    Ok(())
}

fn table(rows: &[Row], part: Part) -> Table {
    let columns = LIFETIMES.map(|lifetime| format!("{} s", lifetime as f64 / 1e3));
    let mut table = Table::new("", ["lifetime"].into_iter().chain(columns.iter().map(String::as_str)));
    table.rows.extend(rows.iter().map(|row| {
        let cells = row.left.iter().map(|left| format!("{:.1} %", part(left)));
        std::iter::once(row.way.clone()).chain(cells).collect()
    }));
    table
}

fn rows(path: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (way, is_killed, of_series) in [
        ("recorded, ended", false, false),
        ("recorded, killed: queues", true, false),
        ("recorded, killed: series", true, true),
    ] {
        let mut left = Vec::new();
        for lifetime in LIFETIMES {
            left.push(recorded(path, lifetime, is_killed, of_series)?);
        }
        rows.push(Row { way: way.into(), left: left.try_into().map_err(|_| "a lifetime is missing")? });
    }
    rows.extend(SCRAPES.map(|every| Row {
        way: format!("scraped every {} s", every / 1_000),
        left: LIFETIMES.map(|lifetime| scraped(lifetime, every)),
    }));
    Ok(rows)
}

/// What a recording has of an executor.
fn recorded(path: &Path, lifetime: u64, is_killed: bool, of_series: bool) -> Result<Left, Box<dyn Error>> {
    live(path, lifetime, is_killed)?;
    let recording = Recording::read(path)?;
    let (points, work) = if of_series {
        let series = recording.series.first().ok_or("no series")?;
        let filed: u64 = series.seconds.iter().map(|period| period.sample.count).sum();
        let is_pending = u64::from(series.pending.count > 0);
        (series.seconds.len() as u64 + is_pending, filed + series.pending.count)
    } else {
        let seconds = &recording.executor.seconds;
        (seconds.len() as u64, seconds.iter().map(|period| period.sample.completed).sum())
    };
    Ok(Left {
        points: percent(points, lifetime.div_ceil(1_000)),
        work: percent(work, lifetime),
        anything: percent(u64::from(points > 0), 1),
    })
}

/// An executor lives, and is recorded.
fn live(path: &Path, lifetime: u64, is_killed: bool) -> Result<(), Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let mut recorder = Recorder::with_room(path, 1, 1)?;
    let series = recorder.series("tasks")?;
    for ms in 1..=lifetime {
        let clock = clock.clone();
        ex.block_on(ex.spawn(async move { clock.advance(Duration::from_millis(1)) }))?;
        series.record(1);
        if (ms % 1_000 == 0 && ms < lifetime) || (ms == lifetime && !is_killed) {
            recorder.record(ex.stats(), SystemTime::UNIX_EPOCH + Duration::from_millis(ms));
        }
    }
    Ok(())
}

/// What scrapes of its counters have, in the mean. A counter has all that was before: after so many milliseconds, so many tasks.
fn scraped(lifetime: u64, every: u64) -> Left {
    let (mut points, mut work, mut anything) = (0, 0, 0);
    for first in 1..=every {
        let scrapes = (first..).step_by(every as usize).take_while(|&at| at <= lifetime);
        let (count, last) = scrapes.fold((0, None), |(count, _), at| (count + 1, Some(at)));
        points += count;
        work += last.unwrap_or(0);
        anything += u64::from(count > 0);
    }
    Left {
        points: percent(points, every * lifetime.div_ceil(1_000)),
        work: percent(work, every * lifetime),
        anything: percent(anything, every),
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
