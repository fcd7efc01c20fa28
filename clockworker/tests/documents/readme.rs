//! The tests' README: that every test it names exists, and that its tables are whole.

use std::fs;

use super::files::{is_module, rust_files, workspace};

/// The bug classes are numbered from 1.
const BUG_CLASSES: usize = 41;

fn readme() -> String {
    fs::read_to_string(workspace().join("clockworker/tests/README.md")).expect("the README")
}

/// The cells of each table row under the heading, without the table's own heading.
fn rows(readme: &str, heading: &str) -> Vec<Vec<String>> {
    let start = readme.find(&format!("\n## {heading}")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let section = &readme[start + 4..];
    let section = &section[..section.find("\n## ").unwrap_or(section.len())];
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    let is_row =
        |line: &&str| line.starts_with('|') && !line.starts_with("|---") && !line.starts_with("| Theirs");
    section.lines().filter(is_row).map(cells).collect()
}

/// What stands in backticks and looks like `file::test`.
fn references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::")).filter(|(file, test)| {
        let name =
            |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        file.split('/').all(name) && name(test)
    })
}

/// The sources of the modules that a name may stand for: of this crate, or of another that the name begins with.
fn sources(module: &str) -> Vec<String> {
    let (krate, module) = match module.split_once('/') {
        Some((other @ ("schedulers" | "testing"), module)) => (other, module),
        _ => ("clockworker", module),
    };
    let files = rust_files(&workspace().join(krate).join("tests"));
    let named = files.iter().filter(|file| is_module(file, module));
    named.map(|file| fs::read_to_string(file).expect("a source")).collect()
}

/// Whether the file has a test function of that name.
fn has_test(source: &str, test: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let declares = ["fn ", "async fn "].iter().any(|key| {
            line.strip_prefix(key)
                .and_then(|rest| rest.strip_prefix(test))
                .is_some_and(|rest| rest.starts_with('('))
        });
        // Attributes stand right above it. Property tests have theirs inside a macro.
        let attributes = || lines[..at].iter().rev().take_while(|line| line.starts_with(['#', '/']));
        declares && attributes().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

#[test]
fn every_test_that_it_names_exists() {
    let readme = readme();
    let (mut rows, more) = (rows(&readme, "Scenarios of other suites"), rows(&readme, "Bug classes"));
    rows.extend(more);
    let mut named = 0;
    let mut wrong = Vec::new();
    // Ours are in the last column.
    for (file, test) in rows.iter().filter_map(|cells| cells.last()).flat_map(|ours| references(ours)) {
        named += 1;
        if !sources(file).iter().any(|source| has_test(source, test)) {
            wrong.push(format!("{file}::{test}"));
        }
    }
    assert!(wrong.is_empty(), "there are no such tests: {wrong:#?}");
    assert!(named > 200, "it names {named}: is it read right?");
}

#[test]
fn every_scenario_of_the_other_suites_is_covered_or_said_not_to_be() {
    let rows = rows(&readme(), "Scenarios of other suites");
    for cells in &rows {
        assert_eq!(cells.len(), 2, "{cells:?}");
        let answered = references(&cells[1]).next().is_some();
        let reason = cells[1].split_once("Not offered: ").map_or("", |(_, reason)| reason);
        assert!(answered || reason.len() > 20, "neither a test nor a reason: {cells:?}");
    }
    assert!(rows.len() > 120, "{} rows: are they read right?", rows.len());
}

#[test]
fn every_bug_class_has_a_test_or_a_reason() {
    let readme = readme();
    let rows = rows(&readme, "Bug classes");
    let numbers: Vec<usize> = rows.iter().filter_map(|cells| cells[0].parse().ok()).collect();
    assert_eq!(numbers, Vec::from_iter(1..=BUG_CLASSES));
    for cells in rows.iter().skip(1) {
        let answered = references(&cells[2]).next().is_some();
        assert!(answered || cells[2].starts_with("Not detected: "), "neither a test nor a reason: {cells:?}");
    }
}
