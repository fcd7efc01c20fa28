//! A recorder's process is killed.

#![forbid(unsafe_code)]
#![allow(missing_docs, clippy::print_stdout, reason = "tests")]

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use clockworker::Executor;
use clockworker_recorder::{Recorder, Recording};

/// Where the child records.
const FILE: &str = "CLOCKWORKER_RECORDED";

/// Not a test but what the child does: it records, faster than time goes by, until it is killed.
#[test]
fn child() {
    let Some(path) = env::var_os(FILE) else { return };
    let ex = Executor::new();
    let mut recorder = Recorder::create(path).unwrap();
    for second in 0.. {
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
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.ends_with("recorded")));
        // Read while it is being written: nothing in it is wrong.
        let live = Recording::read(&path).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let left = Recording::read(&path).unwrap();
        assert_eq!(left.process, child.id());
        assert!(left.updated_ns >= live.updated_ns);
        // What the last call was writing may be missing.
        assert!(left.torn <= 1, "{} torn", left.torn);
        for recording in [&live, &left] {
            let queue = &recording.queues[0];
            assert!(queue.seconds.len() >= 598, "{} seconds", queue.seconds.len());
            assert!(queue.seconds.iter().all(|period| period.sample.completed == 1));
        }
    }
}
