//! `docs` from outside, on recorded results (`report/*.json`, made by hand): what it writes, and that it sees what is stale.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{assert_prints, run, text};

const DOCUMENT: &str = r#"# Figures

<!-- docs
corner = "executor"
all = { file = "compare", figures = ["ns_per_poll"] }
columns = [{ head = "many yields", cell = "1,000 × 1,000" }]
rows = [{ arm = "qlas" }, { head = "LocalSet, ns", arm = "local_set", show = "value" }]
bars = ["Time per poll"]
-->
<!-- /docs -->

The end.
"#;

/// Runs `docs` on a document of this text in a folder with a copy of compare.json: the status, what it complains of, and the
/// document afterwards.
fn docs(document: &str, results: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    fs::write(place("compare.json"), results).unwrap();
    fs::write(place("figures.md"), document).unwrap();
    let (files, figures) = (folder.path().display().to_string(), place("figures.md"));
    let output = run(&[&["docs", "--results", &files, &figures], arguments].concat());
    (output.status.code(), text(&output.stderr).to_owned(), fs::read_to_string(figures).unwrap())
}

fn compare() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/compare.json")).unwrap()
}

#[test]
fn a_table_is_written_once_with_its_bars_and_its_origin() {
    let (status, complaint, written) = docs(DOCUMENT, &compare(), &[]);
    assert_eq!((status, complaint.as_str()), (Some(0), ""));
    let lines = [
        "\n| executor | many yields |\n| --- | ---: |\n| QLAS | 0.84 (0.83 – 0.85) |\n| LocalSet, ns | 27.9 |\n\n",
        "- Time per poll at 1,000 × 1,000, WokenFirst, one queue ÷ LocalSet: 0.32 (95 % interval 0.32 – 0.32); wanted ≤ 0.65: met\n",
        "`cargo run --release -p clockworker-benches -- compare`, 2026-11-21 09:00 UTC, Example CPU, 2 cores,",
        "\n\n<!-- /docs -->\n\nThe end.\n",
    ];
    assert_prints(&written, &lines);
    assert_eq!(docs(&written, &compare(), &[]).2, written);
    assert_eq!(docs(&written, &compare(), &["--check"]).0, Some(0));
}

/// Files of another machine are in a folder of its name. A place may have both, and the command.
#[test]
fn machines_stand_beside_each_other() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    let slower = compare()
        .replace("\"median\": 0.84", "\"median\": 0.95")
        .replace("\"high\": 0.8526", "\"high\": 0.97");
    fs::write(folder.path().join("compare.json"), compare()).unwrap();
    fs::write(folder.path().join("other/compare.json"), slower).unwrap();
    let columns = r#"columns = [
    { head = "here", cell = "1,000 × 1,000" },
    { head = "there", machine = "other", cell = "1,000 × 1,000" },
    { head = "both", show = "machines", cell = "1,000 × 1,000" },
    { head = "command", show = "command", cell = "1,000 × 1,000" },
]"#;
    let (before, rows) =
        DOCUMENT.split_once("columns = [{ head = \"many yields\", cell = \"1,000 × 1,000\" }]").unwrap();
    let figures = folder.path().join("figures.md");
    fs::write(
        &figures,
        [
            before,
            columns,
            &rows.replace(", { head = \"LocalSet, ns\", arm = \"local_set\", show = \"value\" }", ""),
        ]
        .concat(),
    )
    .unwrap();
    let output = run(&["docs", "--results", folder.path().to_str().unwrap(), figures.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let line = "| QLAS | 0.84 (0.83 – 0.85) | 0.95 (0.83 – 0.97) | 0.84 – 0.95 (0.83 – 0.97) | `compare` |\n";
    assert_prints(&fs::read_to_string(figures).unwrap(), &[line]);
}

#[test]
fn what_is_stale_is_found_and_left() {
    let (_, _, written) = docs(DOCUMENT, &compare(), &[]);
    let newer = compare().replace("\"median\": 0.84", "\"median\": 0.85");
    assert_ne!(newer, compare());
    let (status, complaint, left) = docs(&written, &newer, &["--check"]);
    assert_eq!((status, left), (Some(1), written));
    assert!(complaint.contains("figures.md', line 13"), "{complaint}");
}

#[test]
fn what_no_file_has_is_refused_with_what_there_is() {
    let cases = [
        ("\"compare\"", "\"tcp\"", "line 3: there is no file 'tcp', but compare"),
        ("1,000 × 1,000", "7 × 7", "there is no cell '7 × 7', but 50,000 × 5, 1,000 × 1,000, Foreground"),
        ("\"qlas\"", "\"fifo\"", "there is no arm 'fifo', but local_set, local_set_again"),
        ("ns_per_poll", "ns", "there is no figure 'ns', but ns_per_poll"),
        ("Time per poll", "Memory", "there is no bar 'Memory', but Time per poll at"),
        ("arm = \"qlas\"", "head = \"A\"", "neither 'A', 'many yields' nor `all` has an arm"),
    ];
    for (from, to, wanted) in cases {
        let document = DOCUMENT.replace(from, to);
        let (status, complaint, left) = docs(&document, &compare(), &[]);
        assert_eq!((status, left), (Some(2), document));
        assert!(complaint.contains(wanted), "{complaint}");
    }
}
