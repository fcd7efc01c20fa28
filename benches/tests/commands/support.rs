//! Runs the program.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn run(line: &str) -> Output {
    let arguments = line.split(' ').filter(|argument| !argument.is_empty());
    Command::new(env!("CARGO_BIN_EXE_clockworker-benches"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program prints UTF-8")
}

/// What a run prints, if it ends well and does not complain.
pub(crate) fn printed_by(line: &str) -> String {
    let output = run(line);
    assert!(output.status.success() && output.stderr.is_empty(), "{line}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// What a quick run prints, and what it writes as Markdown and as JSON.
pub(crate) struct Quick {
    pub(crate) printed: String,
    pub(crate) markdown: String,
    pub(crate) json: Value,
}

pub(crate) fn quick(line: &str) -> Quick {
    let folder = TempDir::new().unwrap();
    let [json, markdown] = ["run.json", "run.md"].map(|name| folder.path().join(name));
    let line = format!("{line} --quick --json {} --markdown {}", json.display(), markdown.display());
    let printed = printed_by(&line);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    let [json, markdown] = [json, markdown].map(|path| fs::read_to_string(path).unwrap());
    for written in [&json, &markdown] {
        assert!(!written.contains(env!("CARGO_MANIFEST_DIR")) && !written.contains("run.md"), "{written}");
    }
    for shown in [&printed, &markdown] {
        assert!(shown.contains("quick: measures nothing"), "{shown}");
    }
    Quick { printed, markdown, json: serde_json::from_str(&json).unwrap() }
}

/// The comparisons of the only measurement of a run.
pub(crate) fn comparisons(json: &Value) -> &[Value] {
    json["measurements"][0]["comparisons"].as_array().expect("there are comparisons")
}

pub(crate) fn assert_shows(shown: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(shown.contains(wanted), "{wanted} is missing in:\n{shown}");
    }
}
