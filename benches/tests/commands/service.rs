//! `service` from outside: what it measures, and how it refuses.

use serde_json::Value;

use crate::support::{arms, assert_prints, assert_refused, list, printed_by, quick, run};

const ON_TOKIO: [&str; 6] =
    ["native", "native_again", "imports", "imports_tokio_yield", "two_queues", "qlas"];
const ON_MONOIO: [&str; 5] = ["native", "native_again", "imports", "two_queues", "qlas"];

#[test]
fn a_quick_run_has_every_arm_answer_on_every_host() {
    let (printed, report) = quick("service --seed 7");
    assert_prints(
        &printed,
        &["tokio LocalSet again (A/A)", "imports alone", "two queues, 19:1", "2 × 100 µs", "seed 7"],
    );
    check(&report);
}

fn check(report: &Value) {
    assert_eq!(report["arguments"]["seed"], 7);
    let hosts = if cfg!(target_os = "linux") { 2 } else { 1 };
    let cells = list(report, "cells");
    assert_eq!(cells.len(), hosts * 2, "without and with compactors");
    for cell in cells {
        let wanted = if cell["host"] == "tokio" { &ON_TOKIO[..] } else { &ON_MONOIO };
        assert_eq!(arms(cell), wanted);
        list(cell, "arms").iter().enumerate().for_each(|(place, arm)| check_arm(cell, arm, place));
    }
}

fn check_arm(cell: &Value, arm: &Value, place: usize) {
    let figures = &arm["figures"];
    let [mean, p50, p99, p999] = ["mean", "p50", "p99", "p999"]
        .map(|part| figures[&format!("latency_ns.{part}")]["value"].as_f64().unwrap());
    assert!(mean > 0.0 && p50 <= p99 && p99 <= p999, "{figures}");
    assert_eq!(figures["latency_ns.p99"]["ratio"].is_null(), place == 0);
    let (compacts, chunks) = (cell["compactors"] != 0, &figures["chunk_rate"]);
    assert_eq!(chunks["value"].as_f64().is_some_and(|rate| rate > 0.0), compacts, "{arm}");
    assert_eq!(chunks["ratio"].is_null(), !compacts || place == 0);
    assert_eq!(list(&figures["latency_ns.p99"], "samples").len(), 2);
    assert!(["epoll", "io_uring", "legacy"].contains(&arm["facts"]["driver"].as_str().unwrap()));
    // The same schedules for all.
    let requests = |arm: &Value| arm["distributions"]["latency_ns"]["count"].clone();
    assert_eq!(requests(arm), requests(&cell["arms"][0]));
}

#[test]
fn only_what_is_asked_for_is_run() {
    let printed = printed_by("service --quick --host tokio --compactors 0,3 --chunks 50 --arms qlas");
    assert!(printed.contains("3 × 50 µs") && printed.contains("QLAS"), "{printed}");
    assert!(!printed.contains("monoio,") && !printed.contains("two queues"), "{printed}");
}

#[test]
fn nonsense_is_refused_in_one_line() {
    let lines = [
        (&["service", "--compactors", "1001"][..], "--compactors"),
        (&["service", "--host", "smol"], "tokio"),
        (&["service", "--arms", "none"], "'none'"),
        (&["service", "--arms", "native"], "nothing to compare"),
        (&["service", "--chunks", "0"], "--chunks"),
        (&["service", "--rounds", "1"], "--rounds"),
        (&["service-server", "{}"], "missing field"),
    ];
    lines.iter().for_each(|(line, wanted)| assert_refused(&run(line), wanted));
}
