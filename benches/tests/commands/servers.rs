//! `tcp` and `service` from outside: what they measure, and how they refuse and fail.

use serde_json::Value;

use crate::support::{arms, assert_prints, assert_refused, list, quick};

const SERVICES_ON_TOKIO: [&str; 6] =
    ["native", "native_again", "imports", "imports_tokio_yield", "two_queues", "qlas"];
const SERVICES_ON_MONOIO: [&str; 5] = ["native", "native_again", "imports", "two_queues", "qlas"];

#[test]
fn a_quick_run_has_every_service_answer_on_every_host() {
    // A round in each of two processes, which have servers of their own.
    let (printed, report) = quick("service --seed 7 --processes 2");
    assert_prints(
        &printed,
        &["tokio LocalSet again (A/A)", "imports alone", "two queues, 19:1", "2 × 100 µs", "seed 7"],
    );
    let wanted = |cell: &Value| match cell["host"].as_str() {
        Some("tokio") => &SERVICES_ON_TOKIO[..],
        _ => &SERVICES_ON_MONOIO,
    };
    let hosts = if cfg!(target_os = "linux") { 2 } else { 1 };
    // Without and with compactors.
    check(&report, hosts * 2, wanted, check_service);
}

#[test]
fn a_quick_run_has_every_echo_server_answer_on_every_host_in_every_section() {
    let (printed, report) = quick("tcp --seed 7");
    assert_prints(
        &printed,
        &["tokio LocalSet again (A/A)", "smol LocalExecutor", "Clockworker, 9:1", "200 µs", "seed 7"],
    );
    let wanted = |cell: &Value| -> &[&str] {
        match cell["section"].as_str().unwrap() {
            "plain" => &["native", "native_again", "clockworker"],
            "background" => &["native", "native_with_background", "clockworker_with_background"],
            _ => &["alone", "budget_100_us", "budget_200_us"],
        }
    };
    let hosts = if cfg!(target_os = "linux") { 3 } else { 2 };
    check(&report, hosts * 3, wanted, check_echo_server);
}

fn check(
    report: &Value,
    number: usize,
    wanted: fn(&Value) -> &'static [&'static str],
    check_arm: fn(&Value, &Value, usize),
) {
    assert_eq!(report["arguments"]["seed"], 7);
    let cells = list(report, "cells");
    assert_eq!(cells.len(), number);
    for cell in cells {
        assert_eq!(arms(cell), wanted(cell));
        for (place, arm) in list(cell, "arms").iter().enumerate() {
            assert!(["epoll", "io_uring", "legacy"].contains(&arm["facts"]["driver"].as_str().unwrap()));
            check_arm(cell, arm, place);
        }
    }
}

fn check_service(cell: &Value, arm: &Value, place: usize) {
    let figures = &arm["figures"];
    assert!(figures["latency_ns.mean"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(figures["latency_ns.p99"]["ratio"].is_null(), place == 0);
    let (compacts, chunks) = (cell["compactors"] != 0, &figures["chunk_rate"]);
    assert_eq!(chunks["value"].as_f64().is_some_and(|rate| rate > 0.0), compacts, "{arm}");
    assert_eq!(chunks["ratio"].is_null(), !compacts || place == 0);
    check_latencies(cell, arm, "latency_ns");
}

fn check_echo_server(cell: &Value, arm: &Value, place: usize) {
    let beside = cell["section"] != "plain" && place > 0;
    let figures = &arm["figures"];
    let echoes = &figures["echo_rate"];
    assert_eq!(list(echoes, "samples").len(), 2);
    // Beside a background of plainly spawned tasks there may be no echo at all in so short a window.
    assert!(beside || echoes["value"].as_f64().unwrap() > 0.0);
    assert_eq!(figures["background_rate"].is_null(), !beside);
    assert_eq!(figures["cpu_ns_per_echo"].is_null(), beside);
    for load in list(cell, "loads") {
        let p99 = &figures[&format!("load_{load}_latency_ns.p99")];
        // Where the machine had other things to do there may be a round without a message that counts.
        let measured = list(p99, "samples").iter().all(|nanos| nanos.as_f64().unwrap() > 0.0);
        assert_eq!(p99["ratio"].is_null(), place == 0 || !measured, "{arm}");
        assert_eq!(figures[&format!("load_{load}_background_rate")].is_null(), !beside);
        check_latencies(cell, arm, &format!("load_{load}_latency_ns"));
    }
}

fn check_latencies(cell: &Value, arm: &Value, key: &str) {
    let figure = |part: &str| &arm["figures"][&format!("{key}.{part}")];
    let percentiles = ["p50", "p99", "p999"].map(|part| figure(part)["value"].as_f64().unwrap());
    assert!(percentiles.is_sorted(), "{percentiles:?}");
    assert_eq!(list(figure("p99"), "samples").len(), 2);
    // The same schedules for all.
    let messages = |arm: &Value| arm["distributions"][key]["count"].clone();
    assert_eq!(messages(arm), messages(&cell["arms"][0]));
}

#[cfg(unix)]
#[test]
fn more_connections_than_files_may_be_open_are_refused() {
    let program = env!("CARGO_BIN_EXE_clockworker-benches");
    let line = format!("ulimit -n 100 && exec '{program}' tcp --quick --hosts tokio --connections 1000");
    let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    assert_refused(&output, "3064 files cannot be open at once: the limit is 100");
}
