//! A recorder's process is killed.

#![forbid(unsafe_code)]
#![allow(missing_docs, clippy::print_stdout, reason = "tests")]

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use clockworker::Executor;
use clockworker_recorder::{Period, Recorder, Recording, SeriesRecording};

/// Where the child records.
const FILE: &str = "CLOCKWORKER_RECORDED";

/// Values that the child records a second.
const VALUES: u64 = 3;

/// Not a test but what the child does: it records, faster than time goes by, until it is killed.
#[test]
fn child() {
    let Some(path) = env::var_os(FILE) else { return };
    let ex = Executor::new();
    let mut recorder = Recorder::create(path).unwrap();
    let series = recorder.series("values").unwrap();
    for second in 0.. {
        (0..VALUES).for_each(|_| series.record(second));
        ex.block_on(ex.spawn(async {})).unwrap();
        recorder.record(ex.stats(), SystemTime::UNIX_EPOCH + Duration::from_secs(second));
        if second == 1_000 {
            println!("recorded");
        }
    }
}

#[test]
fn what_was_recorded_outlives_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("{round}.cwr"));
        // Read while it is being written: nothing in it is wrong.
        let mut live = None;
        let child = killed("child", &path, || live = Some(Recording::read(&path).unwrap()));
        let (live, left) = (live.unwrap(), Recording::read(&path).unwrap());
        assert_eq!(left.process, child);
        assert!(left.updated_ns >= live.updated_ns);
        // What the last call was writing may be missing.
        assert!(left.torn <= 1, "{} torn", left.torn);
        // Killed between two stores: the sum has a value that the count has not.
        let series = &left.series[0];
        assert!([0, series.count / VALUES].contains(&(series.sum - sum_of(series))), "{series:?}");
        for recording in [&live, &left] {
            let queue = &recording.queues[0];
            assert!(queue.seconds.len() >= 598, "{} seconds", queue.seconds.len());
            assert!(queue.seconds.iter().all(|period| period.sample.completed == 1));
            check(&recording.series[0]);
        }
    }
}

/// Each second is whole, and what came after the last is pending: nothing is lost.
fn check(series: &SeriesRecording) {
    for Period { began, sample, .. } in &series.seconds {
        let is_whole =
            (sample.count, sample.sum, sample.min, sample.max) == (VALUES, VALUES * began, *began, *began);
        assert!(is_whole, "{began}: {sample:?}");
    }
    assert!(series.seconds.len() >= 598, "{} seconds", series.seconds.len());
    let last = series.seconds[series.seconds.len() - 1].began;
    assert_eq!(series.count, (last + 1) * VALUES + series.pending.count);
    assert!(series.sum >= sum_of(series), "{series:?}");
}

/// Of as many values as were counted.
fn sum_of(series: &SeriesRecording) -> u64 {
    (0..series.count).map(|value| value / VALUES).sum()
}

/// Not a test but what the other child does: it records values, and is killed before any second is over.
#[test]
fn child_of_a_moment() {
    let Some(path) = env::var_os(FILE) else { return };
    let mut recorder = Recorder::create(path).unwrap();
    let series = recorder.series("values").unwrap();
    for value in 1.. {
        series.record(value);
        if value == 1_000 {
            println!("recorded");
        }
    }
}

#[test]
fn values_that_no_second_has_yet_outlive_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("{round}.cwr"));
        let child = killed("child_of_a_moment", &path, || ());
        let left = Recording::read(&path).unwrap();
        assert_eq!((left.process, left.torn, left.updated_ns), (child, 0, 0));
        let series = &left.series[0];
        let (count, pending) = (series.count, series.pending);
        assert!(
            count >= 1_000 && pending.count == count && series.seconds.is_empty(),
            "{count}: {pending:?}"
        );
        // What it was recording when it was killed may be there in part.
        assert!([0, count + 1].contains(&(series.sum - count * (count + 1) / 2)), "{count}: {}", series.sum);
        assert!(pending.min == 1 && (count..=count + 1).contains(&pending.max), "{count}: {pending:?}");
    }
}

/// Runs that child until it has recorded something, then `meanwhile`, then kills it. Its process.
fn killed(child: &str, path: &Path, meanwhile: impl FnOnce()) -> u32 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", child, "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("recorded")));
    meanwhile();
    child.kill().unwrap();
    child.wait().unwrap();
    child.id()
}
