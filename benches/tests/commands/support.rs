//! The program from outside: runs it, and looks at what it says and writes.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clockworker-benches"));
    command.args(arguments);
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    program(arguments).output().expect("the program starts")
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program prints UTF-8")
}

/// What a run of that line prints, if it ends well and does not complain.
pub(crate) fn printed_by(line: &str) -> String {
    let output = run(&line.split(' ').collect::<Vec<_>>());
    assert!(output.status.success() && output.stderr.is_empty(), "{line}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// What a quick run of that line prints and writes. It is not judged, and names no file.
pub(crate) fn quick(line: &str) -> (String, Value) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("results.json");
    let printed = printed_by(&format!("{line} --quick --json {}", file.display()));
    let entries = fs::read_dir(directory.path()).unwrap();
    assert!(entries.map(|entry| entry.unwrap().path()).eq([file.clone()]), "nothing else is left");
    assert!(printed.starts_with("quick: not a measurement\n"), "{printed}");
    assert!(!printed.contains("; wanted") && !printed.contains("Bars: "), "{printed}");
    let written = fs::read_to_string(&file).unwrap();
    assert!(!written.contains(env!("CARGO_MANIFEST_DIR")) && !written.contains("results.json"));
    let report: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(report["schema"], format!("clockworker-{}", line.split(' ').next().unwrap()));
    assert_eq!(report["note"], "quick: not a measurement");
    assert!(list(&report, "bars").iter().all(|bar| bar["bar"].is_null() && bar["verdict"].is_null()));
    (printed, report)
}

pub(crate) fn assert_prints(printed: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(printed.contains(wanted), "{wanted} is missing in:\n{printed}");
    }
}

/// One line says why the request makes no sense.
pub(crate) fn assert_refused(output: &Output, wanted: &str) {
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.starts_with("error: ") && line.ends_with('\n'), "{line}");
    assert!(line.contains(wanted), "{line} does not say {wanted}");
    assert!(output.stdout.is_empty());
}

pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().unwrap_or_else(|| panic!("no {field} in {value}"))
}

/// The keys of a cell's arms.
pub(crate) fn arms(cell: &Value) -> Vec<&str> {
    list(cell, "arms").iter().map(|arm| arm["arm"].as_str().unwrap()).collect()
}
