//! `tcp` from outside: what it measures, and how it refuses and fails.

use std::process::Command;

use serde_json::Value;

use crate::support::{arms, assert_prints, assert_refused, list, printed_by, quick, run, text};

#[test]
fn a_quick_run_serves_on_every_host_in_every_section() {
    let (printed, report) = quick("tcp --seed 7");
    assert_prints(
        &printed,
        &["tokio LocalSet again (A/A)", "smol LocalExecutor", "Clockworker, 9:1", "200 µs", "seed 7"],
    );
    check(&report);
}

fn check(report: &Value) {
    assert_eq!(report["arguments"]["seed"], 7);
    let hosts = if cfg!(target_os = "linux") { 3 } else { 2 };
    let cells = list(report, "cells");
    assert_eq!(cells.len(), hosts * 3, "three sections");
    for cell in cells {
        let arms = arms(cell);
        match cell["section"].as_str().unwrap() {
            "plain" => assert_eq!(arms, ["native", "native_again", "clockworker"]),
            "background" => {
                assert_eq!(arms, ["native", "native_with_background", "clockworker_with_background"]);
            }
            _ => assert_eq!(arms, ["alone", "budget_100_us", "budget_200_us"]),
        }
        list(cell, "arms").iter().enumerate().for_each(|(place, arm)| check_arm(cell, arm, place));
    }
}

fn check_arm(cell: &Value, arm: &Value, place: usize) {
    let beside = cell["section"] != "plain" && place > 0;
    assert!(["epoll", "io_uring", "legacy"].contains(&arm["facts"]["driver"].as_str().unwrap()));
    let figures = &arm["figures"];
    let echoes = &figures["echo_rate"];
    assert_eq!(list(echoes, "samples").len(), 2);
    // Beside a background of plainly spawned tasks there may be no echo at all in so short a window.
    assert!(beside || echoes["value"].as_f64().unwrap() > 0.0);
    assert_eq!(figures["background_rate"].is_null(), !beside);
    assert_eq!(figures["cpu_ns_per_echo"].is_null(), beside);
    for load in list(cell, "loads") {
        let figure = |name: &str| &figures[&format!("load_{load}_{name}")];
        let percentiles = ["p50", "p99", "p999"]
            .map(|part| figure(&format!("latency_ns.{part}"))["value"].as_f64().unwrap());
        assert!(percentiles.is_sorted(), "{percentiles:?}");
        let samples = list(figure("latency_ns.p99"), "samples");
        assert_eq!(samples.len(), 2);
        // Where the machine had other things to do there may be a round without a message that counts.
        let measured = samples.iter().all(|nanos| nanos.as_f64().unwrap() > 0.0);
        assert_eq!(figure("latency_ns.p99")["ratio"].is_null(), place == 0 || !measured, "{arm}");
        assert_eq!(figure("background_rate").is_null(), !beside);
    }
    // The same schedules for all.
    let messages = |arm: &Value| arm["distributions"]["load_50_latency_ns"]["count"].clone();
    assert_eq!(messages(arm), messages(&cell["arms"][0]));
}

#[test]
fn only_what_is_asked_for_is_run() {
    let printed = printed_by("tcp --quick --hosts tokio --only plain --connections 1,3 --loads 40");
    assert_prints(
        &printed,
        &["TCP echo, alone", "tokio, 1 connection, 1,024 B", "tokio, 3 connections, 1,024 B", "(40 %)"],
    );
    for unwanted in ["monoio,", "smol", "background work", "by host budget", "(50 %)"] {
        assert!(!printed.contains(unwanted), "{unwanted} is in:\n{printed}");
    }
}

#[test]
fn nonsense_is_refused_in_one_line() {
    let lines = [
        (&["tcp", "--connections", "0"][..], "--connections"),
        (&["tcp", "--hosts", "mio"], "'mio'"),
        (&["tcp", "--only", "all"], "'all'"),
        (&["tcp", "--sizes", "65537"], "--sizes"),
        (&["tcp", "--window", "1"], "--window"),
        (&["tcp", "--polls", "100-20"], "--polls"),
        (&["tcp-server", "{}"], "missing field"),
    ];
    lines.iter().for_each(|(line, wanted)| assert_refused(&run(line), wanted));
}

#[cfg(unix)]
#[test]
fn more_connections_than_files_may_be_open_are_refused() {
    let program = env!("CARGO_BIN_EXE_clockworker-benches");
    let line = format!("ulimit -n 100 && exec '{program}' tcp --quick --hosts tokio --connections 1000");
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("3064 files cannot be open at once: the limit is 100"), "{error}");
}
