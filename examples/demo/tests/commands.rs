//! The program as one runs it, where standard output is no terminal.

#![forbid(unsafe_code)]

use std::fs;
use std::process::{Command, Output};

fn run(options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_clockworker-demo")).args(options).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn once_prints_a_table() {
    let output = run(&["--once", "--seconds", "1"]);
    let (table, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let first = |line: &str| line.trim().split("  ").next().unwrap_or_default().to_owned();
    let expected = [
        "One key-value service, 4000 requests a second, on two executors in turns on one thread, in windows of 200 ms",
        "",
        "p50",
        "requests alone",
        "tokio LocalSet",
        "Clockworker",
        "beside 16 compactors, which have a share of 5 % on Clockworker",
        "tokio LocalSet",
        "Clockworker",
    ];
    assert_eq!(table.lines().map(first).collect::<Vec<_>>(), expected, "{table}");
}

#[test]
fn without_a_terminal_it_says_so_and_prints_the_table() {
    let output = run(&["--seconds", "1"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "standard output is no terminal: a table follows, as with --once\n");
    assert!(text(&output.stdout).starts_with("One key-value service"));
}

#[test]
fn json_and_a_picture() {
    let file = std::env::temp_dir().join(format!("clockworker-demo-{}.svg", std::process::id()));
    let output = run(&["--json", "--seconds", "1", "--svg", file.to_str().unwrap(), "--size", "100x30"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let picture = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let picture = roxmltree::Document::parse(&picture).unwrap();
    assert_eq!(picture.root_element().attribute("width"), Some("924"));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["offered_per_second"], 4000);
    for phase in ["alone", "beside_background"] {
        for side in ["local_set", "clockworker"] {
            let numbers = &json[phase][side];
            assert!(numbers["p50_us"].as_f64() <= numbers["p99_us"].as_f64(), "{json}");
            assert!(numbers["answered_per_second"].as_u64() > Some(0), "{json}");
            assert_eq!(numbers["rows_per_second"].as_u64() > Some(0), phase != "alone", "{json}");
        }
    }
}

#[test]
fn help_names_the_options_and_the_keys() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    let help = text(&output.stdout);
    let expected = ["--once", "--json", "--seconds <N>", "--svg <FILE>", "--size <WxH>", "Keys: b turns"];
    expected.iter().for_each(|word| assert!(help.contains(word), "{help}"));
}

#[test]
fn bad_options_end_it_with_2() {
    let bad: [(&[&str], &str); 3] = [
        (&["--seconds", "0"], "0 is not in 1..=3600"),
        (&["--svg", "x.svg", "--size", "80"], "write it as 80x24"),
        (&["--twice"], "unexpected argument '--twice'"),
    ];
    for (options, message) in bad {
        let output = run(options);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_picture_that_cannot_be_written_ends_it_at_once() {
    let output = run(&["--svg", "no such folder/x.svg", "--seconds", "3600"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: no such folder/x.svg: "), "{}", text(&output.stderr));
}
