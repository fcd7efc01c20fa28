//! `sessions` and `budgets` from outside.

use std::fs;

use tempfile::TempDir;

use crate::support::{arms, assert_prints, assert_refused, list, printed_by, program, quick, run, text};

#[test]
fn quick_sessions_have_every_scenario_and_every_counter() {
    let (printed, report) = quick("sessions --seed 3 --sessions 3,5 --period 5");
    assert_prints(
        &printed,
        &["three queues", "smol LocalExecutor", "clockworker 0.2.6", "Checkpoints beside bursts"],
    );
    let cells = list(&report, "cells");
    let named: Vec<&str> = cells.iter().map(|cell| cell["title"].as_str().unwrap()).collect();
    let scenarios = ["checkpoint_overhead", "fanout_overhead", "subscription_lifecycle_churn", "burst"];
    let wanted = scenarios.map(|name| [3, 5].map(|sessions| format!("{name}, {sessions} sessions"))).concat();
    assert_eq!(named, wanted);
    for cell in cells {
        assert_eq!(arms(cell)[..4], ["local_set", "local_set_again", "imports", "queues"]);
        for arm in list(cell, "arms") {
            let counters = arm["figures"].as_object().unwrap().keys();
            let is_counter = |name: &&String| name.ends_with("_total") || name.ends_with("_last");
            assert_eq!(counters.filter(is_counter).count(), 20, "{arm}");
        }
    }
    let late = &list(&cells[7], "arms")[0]["distributions"]["checkpoint_late_ns"];
    assert_eq!(late["count"], 5 * 6 * 2);
    // By how much skipping what nobody hears shortens the dispatch, and how late checkpoints are in a burst.
    assert_eq!(list(&report, "bars").len(), 2 * (2 + 2), "{}", report["bars"]);
}

#[test]
fn a_budget_that_is_exceeded_is_the_exit_status_of_a_measurement_only() {
    let directory = TempDir::new().unwrap();
    let place = |name: &str| directory.path().join(name).display().to_string();
    let baselines = "[machine]\n[baselines.spawn]\np50 = 1.0\np95 = 1.0\np99 = 1.0\n";
    fs::write(place("low.toml"), baselines).unwrap();
    let printed = printed_by(&format!(
        "budgets --quick --only spawn,wake --file {} --artefacts {}",
        place("low.toml"),
        place("runs")
    ));
    assert_prints(&printed, &["spawn", "p95", "2.00 ns", "not judged", "wake"]);
    let run_folder = fs::read_dir(place("runs")).unwrap().next().unwrap().unwrap().path();
    assert!(run_folder.join("result.json").is_file());
    let refused = |line: &str, wanted| assert_refused(&run(&line.split(' ').collect::<Vec<_>>()), wanted);
    refused("budgets --quick --update", "--update goes with neither");
    refused(&format!("budgets --file {}", place("gone.toml")), "gone.toml");
    refused("budgets --golden --quick", "--quick");
}

#[test]
fn what_an_optimisation_may_not_change_has_not_changed() {
    assert_prints(&printed_by("budgets --golden"), &["as they were"]);
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("golden.sha256");
    let arguments = ["budgets", "--golden", "--file", file.to_str().unwrap()];
    printed_by(&format!("{} --update", arguments.join(" ")));
    let hashes = fs::read_to_string(&file).unwrap();
    fs::write(&file, hashes.replacen("order_of_polls.las", "order_of_polls.lass", 1)).unwrap();
    let output = program(&arguments).env("CARGO_TARGET_DIR", directory.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_prints(text(&output.stderr), &["not as they were: order_of_polls.las;"]);
}
