//! `report` from outside, on recorded results (`report/*.json`, made by hand): what the page says, what it leaves out, how
//! the command refuses. How it looks in a browser: `report_browser.sh`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::support::{assert_prints, assert_refused, program, text};

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report").join(name)
}

fn report(directory: &TempDir, arguments: &[&str], from: &[PathBuf]) -> Output {
    let mut command = program(&["report"]);
    command.args(arguments).current_dir(directory.path());
    command.env("CARGO_TARGET_DIR", directory.path().join("target"));
    if !from.is_empty() {
        command.arg("--from").args(from);
    }
    command.output().expect("the program starts")
}

/// The page and the Markdown of these files.
fn written(from: &[PathBuf]) -> [String; 2] {
    let directory = TempDir::new().unwrap();
    let output = report(&directory, &["--out", "page.html", "--markdown", "page.md"], from);
    assert!(output.status.success(), "{}", text(&output.stderr));
    ["page.html", "page.md"].map(|name| fs::read_to_string(directory.path().join(name)).unwrap())
}

/// What a reader sees of a piece of HTML, tags as single spaces.
fn seen(html: &str) -> String {
    let behind_tag =
        |piece: &str| piece.split_once('>').map_or_else(|| piece.to_owned(), |(_, text)| format!(" {text}"));
    let text: String = html.split('<').map(behind_tag).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).unwrap_or_else(|| panic!("no '{start}'"));
    let to = text[from..].find(end).unwrap_or_else(|| panic!("no '{end}' after '{start}'"));
    &text[from..from + to]
}

#[test]
fn the_first_screen_says_what_it_costs_and_what_you_gain() {
    let [page, _] = written(&[recorded("")]);
    let screen = seen(between(&page, "<header>", "</header>"));
    let sentence = "Next to tokio’s LocalSet: a poll takes 0.32 × as it comes, 0.86 × with LAS, background work gets 0.90 × \
                    done; foreground p99 beside it is 0.65 ×, p99 slowdown of jobs 0.24 × with QLAS.";
    let (costs, gains) = screen.split_once(" What you gain ").expect("two cards");
    assert_prints(
        costs,
        &[
            &seen(sentence),
            "Imports changed ÷ LocalSet’s service mean, 1 × 100 µs 1.02 × 1.01 – 1.03 2 % more, worse ring_1000, time 1.02 ×",
            "Time per poll ÷ LocalSet’s compare one queue 0.32 × 0.32 – 0.32 68 % less, better two queues",
            "Background work done ÷ LocalSet’s compare shares 13:2 (range) 0.90 × 0.89 – 0.91 10 % less, worse",
            "throughput, monoio 0.97 × 0.96 – 0.98 3 % less, worse",
            "priority p99 ÷ alone 1.05 × 1.03 – 1.07 5 % more, worse endless work ÷ LocalSet’s 0.93 ×",
            "p99 slowdown, jobs of 10 ms – 100 ms ÷ LocalSet’s tail LAS 1.40 × no interval 40 % more QLAS",
        ],
    );
    assert_prints(
        gains,
        &[
            "Imports changed ÷ LocalSet’s service mean, 16 × 100 µs 0.12 × 0.12 – 0.12 88 % less, better main_spawns_two",
            "Foreground p99 beside background ÷ LocalSet’s compare shares 13:2 (range) 0.65 ×",
            "TCP beside background ÷ plain spawn’s tcp p99, tokio 0.078 × 0.078 – 0.078 92 % less, better",
            "p99 slowdown ÷ LocalSet’s, pareto at 90 % tail LAS 0.21 × 0.19 – 0.23 79 % less, better",
            "Quiet tenants beside one of 1,000 busy tasks, FairGroups tenants p99 ÷ LocalSet’s 0.021 × 0.020 – 0.022 98 % less, better",
            "Checkpoints of a session manager beside bursts sessions p99 lateness, 30 sessions ÷ LocalSet’s 0.15 × 0.15 – 0.15 85 % less, better",
            "CPU of each queue after 1 s, shares 6:3:1 report furthest from its share 0.00 % exact",
        ],
    );
}

#[test]
fn every_scenario_has_its_section_with_numbers_and_pictures() {
    let [page, _] = written(&[recorded("")]);
    let sections: Vec<String> =
        page.split("<section id=").skip(1).map(|part| seen(between(part, "<h2>", "</h2>"))).collect();
    let wanted = [
        "A service on tokio",
        "What a poll costs",
        "Foreground beside background",
        "Overhead beside other executors",
        "Programs with their imports changed",
        "TCP echo, alone",
        "TCP echo beside background work",
        "TCP echo by host budget",
        "Shares and requests",
        "Tail latency",
        "Tenants",
        "Sessions",
        "A queue of actions",
        "Simulated",
        "The simulator against theory",
        "Shares over time",
        "The machine",
    ];
    assert_eq!(sections, wanted);
    assert_eq!(page.matches("class=\"plot\"").count(), 35);
    let text = seen(&page);
    assert_prints(
        &text,
        &[
            "1 × 100 µs two queues, 19:1 114 1.04 (1.03 – 1.05)",
            "mean, compactors: 16 × 100 µs, imports alone ÷ LocalSet: 0.12 (95 % interval 0.12 – 0.12); wanted ≤ 0.15: met",
            "50,000 × 5 QLAS 30.0 0.62 (0.61 – 0.63)",
            "smol LocalExecutor 61.6; 2.20 (2.16 – 2.24)",
            "Throughput, monoio, 64 connections, 1,024 B, Clockworker ÷ native: 0.97 (95 % interval 0.96 – 0.98); wanted ≥ 0.98: missed",
            "1,000 busy pairs, request and response p99.9 LocalSet 1.20 ms 0.98 (0.95 – 1.00) 1.00 (0.98 – 1.02) ≤ 1.05",
            "batches of 100 polls per batch LocalSet 2.00 0.50 (0.50 – 0.50) 1.00 (1.00 – 1.00) –",
            "4 met, 1 missed, 0 undecided 10,000 actors in a ring, 1,000 tokens, time ÷ LocalSet's: 1.02 (95 % interval 0.99 – 1.05); wanted ≤ 1.00: missed",
            "pareto at 90 % LAS 110 0.60 (0.59 – 0.62)",
            "FairGroups 1.30 / 2.00 0.900 / 2.20 1.10 1.10 0.021 (0.020 – 0.022)",
            "One was alone for 1000 ms LAS 0.98 (0.97 – 0.98) 0.96 (0.95 – 0.97) – –",
            "A cap of 20 %, alone flat – 20.02 % 0.10 % –",
            "30 three queues 0.300 1.50 0.15 (0.15 – 0.15) 700 480 1.00 (0.98 – 1.02)",
            "One floods, FairGroups: quiet tenants' p99 ÷ alone: 1.10 (95 % interval 1.10 – 1.10); wanted ≤ 1.20: met",
            "Clockworker, queues 21,000 1.05 (1.04 – 1.06) 1.40 / 5.60 / 11.2 0.70 (0.69 – 0.71)",
            "Clockworker, queues 10.0 12.0 14.0 16.0 8.00 90.0",
            "exponential:mean=20us 0.5 FCFS RunnableFifo, whole jobs 10,000,000 2.000 2.001 +0.05 % 0.10 %",
            "foreground 6 60.00 %",
            "processor Example CPU",
            "load average before the run 0.1 0.1 0.3",
        ],
    );
    let met = "a main future that spawns two, over and over, time ÷ LocalSet";
    assert!(!text.contains(met), "bars of programs that are met are not listed");
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let [page, _] = written(&[recorded("")]);
    for foreign in ["http", "//", "<script", "src=", "@import", "url(", "<iframe"] {
        assert!(!page.contains(foreign), "'{foreign}' is in the page");
    }
    let outside: Vec<&str> = page
        .split("href=\"")
        .skip(1)
        .filter(|link| !link.starts_with('#') && !link.starts_with("data:,"))
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
}

#[test]
fn pictures_and_tables_can_be_read_without_seeing_them() {
    let [page, _] = written(&[recorded("")]);
    for picture in page.split("<svg").skip(1).map(|part| &part[..part.find("</svg>").unwrap()]) {
        assert_prints(picture, &["viewBox=\"0 0 400 ", "role=\"img\"", "<title id=", "<desc id="]);
        let names = between(picture, "aria-labelledby=\"", "\" ").replace("aria-labelledby=\"", "");
        let names = names.split('"').next().unwrap();
        assert!(names.split(' ').all(|name| page.matches(&format!("id=\"{name}\"")).count() == 1), "{names}");
    }
    for table in page.split("<table").skip(1).map(|part| &part[..part.find("</table>").unwrap()]) {
        assert_prints(table, &["<caption>", "scope=\"col\"", "scope=\"row\""]);
    }
    let described = "WokenFirst, one queue: 0.34 (0.33 – 0.35); WokenFirst, two queues: 0.41 (0.40 – 0.42)";
    assert_prints(&page, &[described]);
}

#[test]
fn every_element_is_closed_where_it_was_opened() {
    let [page, _] = written(&[recorded("")]);
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("no bare '<'");
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/') || ["!DOCTYPE", "meta", "link"].contains(&name)) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (_, true) => {}
            (false, false) => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_same_files_in_any_order_give_the_same_bytes() {
    let names = ["tcp.json", "compare.json", "tail.json"];
    let files: Vec<PathBuf> = names.into_iter().map(recorded).collect();
    let first = written(&files);
    assert_eq!(first, written(&files));
    let backwards: Vec<PathBuf> = files.into_iter().rev().collect();
    assert_eq!(first, written(&backwards));
}

#[test]
fn what_was_not_measured_is_named_with_what_to_run() {
    let [page, markdown] = written(&[recorded("overhead.json")]);
    let text = seen(&page);
    assert_prints(
        &text,
        &[
            "a poll takes 0.33 × as it comes, 0.87 × with LAS",
            "What does a poll cost, and what becomes of foreground latency beside background work? Run cargo run --release -p clockworker-benches -- compare --json FILE",
            "-- tail --grid --json FILE",
        ],
    );
    assert!(!text.contains("-- overhead --json FILE"));
    assert_prints(
        &markdown,
        &["Not here: What does the order of work do to the slowest jobs, short and long? `"],
    );
}

#[test]
fn a_run_that_was_no_measurement_is_marked_on_top() {
    let directory = TempDir::new().unwrap();
    let text = fs::read_to_string(recorded("compare.json")).unwrap();
    let quick = text.replacen("\"note\": null", "\"note\": \"quick: not a measurement\"", 1);
    assert_ne!(text, quick);
    let file = directory.path().join("quick.json");
    fs::write(&file, quick).unwrap();
    let [page, markdown] = written(&[file]);
    let screen = seen(between(&page, "<header>", "</header>"));
    assert_prints(&screen, &["quick: not a measurement (quick.json)"]);
    assert_prints(&markdown, &["**quick: not a measurement** (quick.json)\n"]);
}

#[test]
fn markdown_has_the_tables() {
    let [_, markdown] = written(&[recorded("")]);
    assert_prints(
        &markdown,
        &[
            "| Time per poll ÷ LocalSet’s: QLAS | **0.84\u{a0}×** | 0.83 – 0.85 | 16 % less, better | `compare` |",
            "\n| tasks × yields | executor | ns per poll | × LocalSet |\n| --- | --- | ---: | ---: |\n",
            "\n| 1,000 × 1,000 | LAS | 24.0 | 0.86 (0.85 – 0.87) |\n",
            "\n## The machine\n",
        ],
    );
}

#[test]
fn files_of_unknown_kinds_are_left_out_and_named() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("new.json");
    fs::write(&file, r#"{"schema":"clockworker-new","schema_version":1}"#).unwrap();
    let [page, _] = written(&[recorded("compare.json"), file]);
    let wanted = "Left out: new.json: this program does not know files of kind &#39;clockworker-new&#39;";
    assert_prints(&seen(&page).replace('\'', "&#39;"), &[wanted]);
}

#[test]
fn what_cannot_be_reported_is_refused() {
    let directory = TempDir::new().unwrap();
    let bad = directory.path().join("bad.json");
    fs::write(&bad, "{\"schema\":").unwrap();
    let refused = |arguments: &[&str], from: &[PathBuf], wanted| {
        assert_refused(&report(&directory, arguments, from), wanted);
    };
    refused(&[], &[], "no files of results there: --run makes them");
    refused(&[], &[PathBuf::from("gone.json")], "cannot read 'gone.json'");
    refused(&[], &[bad], "bad.json': EOF");
    refused(&["--out", "/nowhere/page.html"], &[recorded("tcp.json")], "cannot write");
    refused(&["--quick"], &[], "--run");
}
