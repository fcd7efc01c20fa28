//! `service` from outside: what it measures, and how it fails.

use std::process::Command;

use serde_json::Value;

use crate::support::{assert_shows, comparisons, quick, text};

fn title(comparison: &Value) -> &str {
    comparison["title"].as_str().unwrap()
}

fn is_alone(comparison: &Value) -> bool {
    title(comparison).ends_with("no compactors")
}

fn value(arm: &Value, figure: &str) -> Option<f64> {
    arm["figures"][figure]["value"].as_f64()
}

fn arms(comparison: &Value) -> &[Value] {
    comparison["arms"].as_array().unwrap()
}

#[test]
fn every_key_value_service_answers_without_and_beside_compactors() {
    let found = quick("service --only kv_0,kv_4 --seed 7");
    assert_shows(&found.printed, &["on tokio, 4 compactors", "two queues 19:1", "p99.9", "sent late, p99"]);
    let hosts = if cfg!(all(feature = "rivals", target_os = "linux")) { 2 } else { 1 };
    assert_eq!(comparisons(&found.json).len(), 2 * hosts);
    for comparison in comparisons(&found.json) {
        let is_on_tokio = title(comparison).contains("tokio");
        assert_eq!(arms(comparison).len(), if is_on_tokio { 6 } else { 5 });
        for arm in arms(comparison) {
            assert!(value(arm, "latency_ns.mean").unwrap() > 0.0, "{arm}");
            assert_eq!(value(arm, "chunks").is_some_and(|rate| rate > 0.0), !is_alone(comparison), "{arm}");
            check_percentiles(arm);
        }
    }
}

/// In so short a window there may be no answer, where the machine has other things to do. But there is one in the end, or the
/// run fails.
#[test]
fn every_echo_server_answers_alone_and_beside_compactors() {
    let found = quick("service --only echo");
    assert_shows(&found.printed, &["Echo on tokio, 1 connection, no compactors: closed loop", "open loop"]);
    for comparison in comparisons(&found.json) {
        assert_eq!(arms(comparison).len(), if is_alone(comparison) { 3 } else { 4 });
        for (place, arm) in arms(comparison).iter().enumerate() {
            let has_compactors = !is_alone(comparison) && place > 1;
            assert!(value(arm, "closed_rate").is_some());
            for chunks in ["closed_chunks", "chunks"] {
                assert_eq!(value(arm, chunks).is_some(), has_compactors, "{arm}");
            }
            check_percentiles(arm);
        }
    }
}

/// There is no CPU time per answer where a window has none.
#[test]
fn every_service_by_its_imports_has_a_row_for_each_quantity() {
    let mut parts = "service --only proxy,redis,chat,light,in_task".to_owned();
    let mut rows = vec![
        "Proxy: answers, saturated",
        "16 commands at once: answers, saturated",
        "Chat rooms of 8: p99, saturated",
        "A request each millisecond: CPU time per request",
        "In a task of a LocalSet, beside pairs: answers",
        "In a task of a LocalRuntime, beside a task that yields: p50",
    ];
    if cfg!(feature = "axum") {
        parts += ",importer";
        rows.extend([
            "axum::serve beside importers: rows, saturated",
            "Accepted by hand beside importers: p50, open loop",
        ]);
    }
    let found = quick(&parts);
    assert_shows(&found.printed, &rows);
    for comparison in comparisons(&found.json) {
        for arm in arms(comparison) {
            let rate = value(arm, "closed_rate").or(value(arm, "open_rate"));
            assert!(rate.is_some(), "{arm}");
            assert_eq!(value(arm, "chunks").is_some(), title(comparison).contains("importers"), "{arm}");
        }
    }
}

fn check_percentiles(arm: &Value) {
    let percentiles = ["p50", "p99", "p999"].map(|part| value(arm, &format!("latency_ns.{part}")).unwrap());
    assert!(percentiles.is_sorted(), "{percentiles:?}");
}

fn fails_with(command: &mut Command, reason: &str) {
    let output = command.output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert_shows(text(&output.stderr), &[reason]);
}

#[cfg(unix)]
#[test]
fn what_is_missing_is_named() {
    let program = env!("CARGO_BIN_EXE_clockworker-benches");
    let mut without_oha = Command::new(program);
    without_oha.args(["service", "--quick", "--only", "http"]).env("PATH", "");
    fails_with(&mut without_oha, "oha is not installed: cargo install oha --locked");
    let mut few_files = Command::new("sh");
    few_files.args(["-c", &format!("ulimit -n 50 && exec '{program}' service --quick --only echo")]);
    fails_with(&mut few_files, "files cannot be open at once: the limit is 50");
}
