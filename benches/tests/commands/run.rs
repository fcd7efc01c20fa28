//! What every command does.

use std::fs;

use tempfile::TempDir;

use crate::support::{assert_shows, comparisons, printed_by, quick, run, text};

#[test]
fn a_run_says_what_was_asked_and_on_what_it_ran() {
    let found = quick("micro --only poll --arms clockworker --seed 3");
    let command =
        "cargo run --release -p clockworker-benches -- micro --only poll --arms clockworker --seed 3 --quick";
    assert_shows(&found.markdown, &[command, "schedulers/src ", "## Undecided", "rustc ", "tokio 1."]);
    assert_shows(&found.printed, &[command, "clock source", "pinning: "]);
    assert_eq!((&found.json["command"], &found.json["seed"]), (&command.into(), &3.into()));
    let facts = &found.json["facts"];
    for fact in ["date", "machine", "cpu", "kernel", "revision", "clockworker_src", "schedulers_src"] {
        assert!(facts[fact].as_str().is_some_and(|fact| !fact.is_empty()), "{fact}: {facts}");
    }
}

#[test]
fn the_base_is_measured_twice_and_two_rounds_have_no_interval() {
    let found = quick("micro --only hop,spawn --arms clockworker_qlas");
    let titles = ["LocalSet", "LocalSet again (A/A)", "Clockworker, QLAS"];
    for comparison in comparisons(&found.json) {
        let arms = comparison["arms"].as_array().unwrap();
        assert!(arms.iter().map(|arm| &arm["title"]).eq(titles), "{comparison}");
        for (place, arm) in arms.iter().enumerate() {
            let figure = &arm["figures"]["ns"];
            assert_eq!(figure["samples"].as_array().unwrap().len(), 2);
            assert_eq!(figure["ratio"].is_null(), place == 0);
            assert!(figure["ratio"]["interval"].is_null());
        }
    }
    assert_shows(
        &found.printed,
        &["(2 rounds: no interval)", "Of 4 ratios 0 are undecided, and 4 have no interval."],
    );
}

#[test]
fn results_in_a_folder_have_a_place_by_machine_and_command() {
    let folder = TempDir::new().unwrap();
    printed_by(&format!(
        "micro --quick --only poll --arms clockworker --markdown {}/",
        folder.path().display()
    ));
    let machine = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let found = fs::read_to_string(machine.join("micro.md")).unwrap();
    assert_shows(&found, &["# micro on ", machine.file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = [
        ("micro --only polls", "micro has no polls; it has hop, memory, poll, spawn, thread, wake"),
        ("compare --only tails", "compare has no tails"),
        ("compare --arms clockworker", "compare has arms of its own"),
        ("micro --quick --json Cargo.toml/x.json", "Cargo.toml"),
        ("micro --rounds 0", "0 is not in 1..=1000"),
        ("micro --arms tokyo", "--arms: micro has no tokyo; it has clockworker, "),
        ("", "Usage: clockworker-benches"),
    ];
    for (line, wanted) in refused {
        let output = run(line);
        assert!(!output.status.success() && output.stdout.is_empty(), "{line}");
        assert_shows(text(&output.stderr), &[wanted]);
    }
}

#[test]
fn compare_runs_the_headlines_and_ends_with_their_ratios() {
    let found = quick("compare");
    assert_shows(&found.printed, &["What do spawns, polls, wakes and memory cost", "in one queue"]);
    let (_, summary) = found.printed.split_once("\nHeadlines: ").unwrap();
    let rows: Vec<&str> = summary.lines().skip(2).collect();
    let is_found =
        |row: &&str| ["rounds: no interval", "the base is 0"].iter().any(|cell| row.contains(cell));
    assert!(rows.len() >= 8 && rows.iter().all(is_found), "{summary}");
    assert_shows(&found.markdown, &["## Headlines: "]);
}
