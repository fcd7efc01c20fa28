//! `actions` from outside: a queue that is killed, interrupted, locked out or without room loses nothing and does nothing twice.

use std::path::{Path, PathBuf};
use std::process::Output;

use clockworker_benches::random::{Purpose, Random};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{arms, assert_prints, list, quick, run, text};

const INSTANCES: u64 = 400;
const ACTIONS: u64 = 4 * INSTANCES;

struct Queue {
    _folder: TempDir,
    database: PathBuf,
}

impl Queue {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("actions.sqlite");
        Queue { _folder: folder, database }
    }

    fn once(&self, line: &str) -> Output {
        let line = format!("actions --once {line} --database {}", self.database.display());
        run(&line.split_whitespace().collect::<Vec<_>>())
    }

    fn begin(&self, line: &str) -> Output {
        self.once(&format!("--instances {INSTANCES} {line}"))
    }

    /// Goes on to the end, without a word of complaint.
    fn resume(&self) {
        let output = self.once("--resume");
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).ends_with("1,600 in all; nothing left\n"), "{}", text(&output.stdout));
        assert_done_once(&self.database);
    }
}

/// The run could not go on: one line says so, and the status is as wanted.
fn assert_stopped(output: &Output, status: i32, wanted: &str) {
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert!(line.lines().count() == 1 && line.contains(wanted), "{line}");
}

fn count(on: &Connection, of: &str) -> u64 {
    on.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get::<_, i64>(0)).unwrap() as u64
}

/// Each action has one effect and one line in the log, each instance is complete, and nothing is queued.
fn assert_done_once(database: &Path) {
    let on = Connection::open(database).unwrap();
    let tables = [
        ("effects", ACTIONS),
        ("(SELECT DISTINCT instance, number FROM effects)", ACTIONS),
        ("log", ACTIONS),
        ("effects JOIN log USING (instance, number)", ACTIONS),
        ("actions WHERE status < 3", 0),
        ("log_queue", 0),
        ("instances WHERE completed_at IS NOT NULL AND started_at IS NOT NULL", INSTANCES),
    ];
    tables.into_iter().for_each(|(table, wanted)| assert_eq!(count(&on, table), wanted, "{table}"));
    let sound: String = on.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

/// Two moments pass with each transaction; a run has more than so many, however its loops take turns: 5 claims, 4 starts,
/// and at least 16 dispatches with their records.
const MOMENTS: u64 = 50;

#[cfg(unix)]
#[test]
#[allow(clippy::print_stdout, reason = "who looks into a failure wants the points")]
fn a_queue_that_is_killed_goes_on_and_does_each_action_once() {
    use std::os::unix::process::ExitStatusExt;

    let seed = 1;
    let mut random = Random::new(seed, Purpose::Work, 0);
    for number in 0..10 {
        let moment = 1 + random.below(MOMENTS);
        let executor = ["clockworker", "localset"][number % 2];
        let without = ["", "--without delete_on_complete", "--without claim,batched_start,own_start_loop"];
        println!("seed {seed}: {executor}, killed at moment {moment}");
        let queue = Queue::new();
        let line = format!("--executor {executor} --kill-at {moment} {}", without[number % 3]);
        assert_eq!(queue.begin(&line).status.signal(), Some(9), "it was to be killed at {moment}");
        queue.resume();
    }
}

#[cfg(unix)]
#[test]
fn a_queue_that_is_killed_again_and_again_comes_to_its_end() {
    use std::os::unix::process::ExitStatusExt;

    let queue = Queue::new();
    assert_eq!(queue.begin("--kill-at 12").status.signal(), Some(9));
    for _ in 0..3 {
        assert_eq!(queue.once("--resume --kill-at 9").status.signal(), Some(9));
    }
    queue.resume();
}

#[cfg(unix)]
#[test]
fn an_interrupted_queue_stops_clean_and_goes_on() {
    let queue = Queue::new();
    for executor in ["clockworker", "localset"] {
        let begun = queue.database.exists();
        let line = format!("--executor {executor} --interrupt-at 20");
        let output = if begun { queue.once(&format!("{line} --resume")) } else { queue.begin(&line) };
        assert_stopped(&output, 130, "interrupted; nothing is lost, --resume goes on");
        assert!(count(&Connection::open(&queue.database).unwrap(), "effects") < ACTIONS);
    }
    queue.resume();
}

#[cfg(unix)]
#[test]
fn a_locked_database_is_an_error_and_loses_nothing() {
    let queue = Queue::new();
    queue.begin("--kill-at 30");
    let other = Connection::open(&queue.database).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_stopped(&queue.once("--resume"), 1, "locked by another process");
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    queue.resume();
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let queue = Queue::new();
    assert_stopped(&queue.begin("--most-pages 10"), 1, "the disk is full");
    assert_stopped(&queue.begin("--most-pages 90"), 1, "the disk is full; nothing is lost");
    queue.resume();
}

#[test]
fn a_database_that_holds_no_run_or_another_is_refused() {
    let queue = Queue::new();
    assert_stopped(&queue.once("--resume"), 2, "there is no such file");
    assert!(queue.begin("").status.success());
    assert_done_once(&queue.database);
    assert_stopped(&queue.begin(""), 2, "it holds a run; --resume goes on with it");
    // There is nothing to be done, and nothing is.
    queue.resume();
    let other = Queue::new();
    Connection::open(&other.database).unwrap().execute_batch("CREATE TABLE theirs(id)").unwrap();
    assert_stopped(&other.begin(""), 2, "it holds something else");
    assert_stopped(&other.once("--resume"), 2, "it holds no run");
    std::fs::write(&other.database, "no database, but long enough to be taken for one".repeat(20)).unwrap();
    assert_stopped(&other.once("--resume"), 2, "not a database");
    assert_stopped(&other.begin(""), 2, "not a database");
}

#[test]
fn quick_actions_run_on_every_arm() {
    let (printed, report) = quick("actions --seed 3");
    assert_prints(
        &printed,
        &["60 × 4", "LocalSet again", "Clockworker, queues", "clockworker 0.2.6", "flush"],
    );
    let cells = list(&report, "cells");
    let wanted = ["local_set", "local_set_again", "imports", "queues", "local_executor", "published"];
    assert_eq!((cells.len(), arms(&cells[0])), (1, wanted.to_vec()));
    for arm in list(&cells[0], "arms") {
        assert_eq!(arm["distributions"]["completion_ns"]["count"], 2 * 240, "{arm}");
        assert!(arm["figures"]["actions_per_s"]["value"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn quick_steps_go_from_the_baseline_to_everything() {
    let (printed, report) = quick("actions --steps --instances 20 --workers 3 --shares 1,1,1,1");
    assert_prints(&printed, &["20 × 4, baseline", "20 × 4, + own start loop", "3 workers", "flush 1"]);
    let cells = list(&report, "cells");
    assert_eq!((cells.len(), arms(&cells[0])), (7, vec!["local_set", "local_set_again", "queues"]));
}
