//! The program `clockworker-top`.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use clockworker::{Executor, ManualClock};
use clockworker_recorder::Recorder;

fn top(file: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_clockworker-top")).arg(file).args(options).output().unwrap()
}

/// Two queues, 9 to 1, that had 3 to 1.
fn record(path: &Path) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let requests = ex.new_queue("requests").share(9).create().unwrap();
    let mut recorder = Recorder::create(path).unwrap();
    let bytes = recorder.series("bytes").unwrap();
    let _idle = recorder.series("idle").unwrap();
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    for second in 0..4 {
        for (queue, ms) in [(requests.clone(), 600), (ex.default_queue().clone(), 200)] {
            let clock = clock.clone();
            ex.block_on(queue.spawn(async move { clock.advance(Duration::from_millis(ms)) })).unwrap();
        }
        [1_000, 2_000 + second].into_iter().for_each(|value| bytes.record(value));
        recorder.record(ex.stats(), began + Duration::from_secs(second));
    }
    bytes.record(5_000);
}

#[test]
fn it_shows_what_each_queue_is_owed_and_got() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("service.cwr");
    record(&path);
    let output = top(&path, &["--once"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("process {}, recorded until ", std::process::id())), "{text}");
    assert!(text.contains(" 80 % busy over 4 s\n"), "{text}");
    let cells = |name: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{text}"));
        line.split(['│', '┆']).map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(cells("requests")[..4], ["requests", "9", "90 %", "75 %"]);
    assert_eq!(cells("default")[..5], ["default", "1", "10 %", "25 %", "1.00"]);
    assert_eq!(cells("bytes"), ["bytes", "2.00", "3,002", "1,501", "1,000", "2,003", "1"]);
    assert_eq!(cells("idle"), ["idle", "0", "0", "–", "–", "–", "0"]);
}

#[test]
fn it_gives_the_recording_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("service.cwr");
    record(&path);
    let json: serde_json::Value = serde_json::from_slice(&top(&path, &["--json"]).stdout).unwrap();
    assert_eq!(json["queues"][1]["name"], "requests");
    assert_eq!(json["queues"][1]["seconds"].as_array().unwrap().len(), 4);
    assert_eq!(json["queues"][1]["seconds"][0]["sample"]["busy_ns"], 600_000_000);
    assert_eq!(json["series"][0]["name"], "bytes");
    assert_eq!(json["series"][0]["tens"][0]["sample"]["count"], 8);
    assert_eq!(json["series"][0]["pending"]["sum"], 5_000);
}

#[test]
fn bad_requests_are_one_line_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign");
    fs::write(&path, "something else").unwrap();
    let missing = folder.path().join("missing");
    let cases: [(&Path, &[&str], &str); 5] = [
        (&path, &["--once"], "is no recording of clockworker"),
        (&path, &[], "is no recording of clockworker"),
        (&missing, &["--json"], "cannot read"),
        (&path, &["--once", "--over", "0"], "--over"),
        (&path, &["--every", "soon"], "--every"),
    ];
    for (path, options, reason) in cases {
        let output = top(path, options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains(reason) && said.lines().count() == 1, "{said}");
        assert!(output.stdout.is_empty());
    }
}
