//! The program `clockworker-top`.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use clockworker::{Executor, ManualClock};
use clockworker_observe::Observed;
use clockworker_observe::recorder::Recorder;
use serde_json::json;

fn top(file: &Path, options: &[&str]) -> Output {
    let mut top = Command::new(env!("CARGO_BIN_EXE_clockworker-top"));
    top.arg(file).args(options).env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
    top.output().unwrap()
}

/// Two queues, 9 to 1, that have 3 to 1 and leave a fifth of the time.
fn record(path: &Path) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let requests = ex.new_queue("requests").share(9).create().unwrap();
    let mut recorder = Recorder::create(path).unwrap();
    let bytes = recorder.series("bytes").unwrap();
    recorder.series("idle").unwrap();
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    for second in 0..4 {
        clock.advance(Duration::from_millis(200));
        for (queue, ms) in [(&requests, 600), (ex.default_queue(), 200)] {
            let clock = clock.clone();
            ex.block_on(queue.spawn(async move { clock.advance(Duration::from_millis(ms)) })).unwrap();
        }
        [1_000, 2_000 + second].into_iter().for_each(|value| bytes.record(value));
        recorder.record(ex.stats(), Observed::default(), began + Duration::from_secs(second));
    }
    bytes.record(5_000);
}

#[test]
fn it_shows_what_each_queue_is_owed_and_got() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("service.cwr");
    record(&path);
    for (over, seconds, sum) in [("1", "1.0", "3,003"), ("10", "4.0", "3,002")] {
        let output = top(&path, &["--once", "--over", over]);
        let text = String::from_utf8(output.stdout).unwrap();
        let process = std::process::id();
        let head =
            format!("process {process}, recorded until 2027-01-15T08:00:03Z, 80 % busy over {seconds} s\n\n");
        assert!(output.status.success() && text.starts_with(&head), "{text}");
        let cells = |name: &str| -> Vec<&str> {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
        };
        assert_eq!(cells("requests")[..4], ["requests", "9", "90 %", "75 %"]);
        assert_eq!(cells("default")[..5], ["default", "1", "10 %", "25 %", "1.00"]);
        assert_eq!(
            cells("bytes"),
            ["bytes", "2.00", sum, if over == "1" { "1,502" } else { "1,501" }, "1,000", "2,003", "1"]
        );
        assert_eq!(cells("idle"), ["idle", "0", "0", "–", "–", "–", "0"]);
    }
    let json: serde_json::Value = serde_json::from_slice(&top(&path, &["--json"]).stdout).unwrap();
    assert_eq!(json["periods"].as_array().unwrap().len(), 4);
    let period = &json["periods"][0];
    assert_eq!(
        (&period["queues"][1]["name"], &period["took_ns"]),
        (&json!("requests"), &json!(1_000_000_000))
    );
    assert_eq!(period["series"][0]["values"]["count"], 2);
    assert_eq!(json["pending"][0]["values"]["sum"], 5_000);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign");
    fs::write(&path, "something else").unwrap();
    let missing = folder.path().join("missing");
    for (path, option, reason) in [(&path, "--over=2", "no recording"), (&missing, "--json", "No such file")]
    {
        let output = top(path, &[option]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{option}: {said}");
        let start = format!("Error: {}: {reason}", path.display());
        assert!(said.starts_with(&start) && said.lines().count() == 1, "{said}");
    }
}
