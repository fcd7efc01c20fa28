//! Both services, on both executors.

use std::process::Command;

fn output(program: &str, options: &[&str]) -> String {
    let output = Command::new(program).args(options).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{}", text(output.stderr));
    text(output.stdout)
}

/// How many there were of a kind.
fn count(table: &str, kind: &str) -> u64 {
    let line = table.lines().find(|line| line.starts_with(kind)).unwrap_or_else(|| panic!("{table}"));
    line[kind.len()..].split_whitespace().next().unwrap().parse().unwrap()
}

const EXECUTORS: [&str; 2] = ["localset", "clockworker"];

#[test]
fn every_checkpoint_event_and_visit_is_there() {
    for on in EXECUTORS {
        let table = output(env!("CARGO_BIN_EXE_session_manager"), &["--on", on, "--quick"]);
        assert_eq!(count(&table, "checkpoint, late by"), 10 * 4, "{table}");
        // A client of each session, and two of all.
        assert_eq!(count(&table, "event, until a client has it"), 10 * 2 * 40 * 3, "{table}");
        assert_eq!(count(&table, "visit"), 120, "{table}");
    }
}

#[test]
fn every_action_is_done() {
    for on in EXECUTORS {
        let table = output(env!("CARGO_BIN_EXE_action_queue"), &["--on", on, "--quick", "--seconds", "600"]);
        assert!(table.starts_with("800 actions recorded in ") && table.contains("; 0 left\n"), "{table}");
        assert_eq!(count(&table, "action, until it is recorded"), 800, "{table}");
    }
}

/// The program itself makes sure that each action had one effect, and that none was lost.
#[test]
fn a_run_that_was_stopped_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    for on in EXECUTORS {
        let database = folder.path().join(on);
        // How many actions are recorded.
        let run = |seconds| {
            let options = ["--on", on, "--instances", "2000", "--seconds", seconds, "--database"];
            let options = [&options[..], &[database.to_str().unwrap()]].concat();
            count(&output(env!("CARGO_BIN_EXE_action_queue"), &options), "")
        };
        let first = run("0.05");
        assert!(first < 8_000, "{on}: {first} actions, and nothing is left to go on with");
        assert_eq!(first + run("600"), 8_000, "{on}");
        assert_eq!(run("600"), 0, "{on}");
    }
}
