//! The program from outside: what it prints, what it writes, how it refuses.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    arms, assert_prints, assert_refused, assert_unjudged, printed_by, program, quick, run, text,
};

const OVERHEAD_ARMS: [&str; 7] = [
    "local_set",
    "local_set_again",
    "woken_first_one_queue",
    "woken_first_two_queues",
    "qlas",
    "las",
    "serpt",
];
const BACKGROUND_ARMS: [&str; 4] = ["local_set_foreground_only", "local_set", "clockworker", "two_runtimes"];

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_quick_run_prints_both_tables_and_writes_the_file() {
    let (printed, report) = quick("compare --seed 7 --repetitions 1");
    assert_prints(
        &printed,
        &["× LocalSet", "WokenFirst, two queues", "QLAS", "queueing", "two runtimes", "seed 7"],
    );
    check_json(&report);
}

fn check_json(report: &Value) {
    assert_eq!(report["schema_version"], 2);
    assert_eq!(report["arguments"]["quick"], true);
    assert_eq!(report["arguments"]["seed"], 7);
    for fact in ["date", "cpu", "cores", "kernel", "clock_source", "pinning", "rustc", "tokio", "revision"] {
        assert!(!report["facts"][fact].is_null(), "{fact}");
    }
    let [shapes @ .., background] = &report["cells"].as_array().unwrap()[..] else { panic!("no cells") };
    assert_eq!(shapes.len(), 4);
    shapes.iter().for_each(check_shape);
    check_background(background);
    // A machine that is busy may have left LocalSet no time for the background, and no ratio to it.
    assert!(report["bars"].as_array().unwrap().len() >= 5, "{}", report["bars"]);
}

fn check_shape(shape: &Value) {
    assert_eq!(arms(shape), OVERHEAD_ARMS);
    for arm in shape["arms"].as_array().unwrap() {
        let Value::Object(figure) = &arm["figures"]["ns_per_poll"] else { panic!("{arm}") };
        assert_eq!(figure["samples"].as_array().unwrap().len(), 2);
        assert!(figure["value"].as_f64().unwrap() > 0.0);
        let ratio = &figure["ratio"];
        let [low, median, high] = ["low", "median", "high"].map(|field| ratio[field].as_f64());
        assert_eq!(ratio.is_null(), arm["arm"] == "local_set");
        assert!(low <= median && median <= high, "{ratio}");
    }
}

fn check_background(background: &Value) {
    assert_eq!(arms(background), BACKGROUND_ARMS);
    let arms = background["arms"].as_array().unwrap();
    let offered = |arm: &Value| arm["distributions"]["total_latency_ns"]["count"].as_u64().unwrap();
    for arm in arms {
        assert_eq!(offered(arm), offered(&arms[0]), "every arm gets the same schedule");
        let figures = &arm["figures"];
        assert_eq!(figures["total_latency_ns.p99"]["samples"].as_array().unwrap().len(), 1);
        for times in ["queueing_delay_ns", "total_latency_ns"] {
            let part = |part| figures[format!("{times}.{part}")]["value"].as_f64().unwrap();
            assert!(part("p50") <= part("p90") && part("p90") <= part("p99"));
        }
        assert_eq!(figures["background_rate"].is_null(), arm["arm"] == "local_set_foreground_only");
    }
}

/// Sections of `overhead`, with how many cells their first measure has, and arms if it is not of executors.
const SECTIONS: [(&str, usize, Option<usize>); 7] = [
    ("polls", 5, None),
    ("spawn", 3, None),
    ("wake", 2, None),
    ("queues", 3, Some(7)),
    ("groups", 8, Some(6)),
    ("memory", 1, None),
    ("idle", 1, None),
];

/// Arms of `overhead` that every build on every system has.
const ARMS: [&str; 14] = [
    "local_set",
    "local_set_again",
    "woken_first",
    "two_queues",
    "qlas",
    "las",
    "serpt",
    "published",
    "local_runtime",
    "local_executor",
    "futures_unordered",
    "local_pool",
    "task_loop",
    "boxed_loop",
];

#[test]
fn overhead_measures_every_arm_at_every_shape() {
    let directory = TempDir::new().unwrap();
    let artefacts = directory.path().to_str().unwrap();
    let file = directory.path().join("result.json");
    let printed =
        printed_by(&format!("overhead --quick --artefacts {artefacts} --json {} --seed 3", file.display()));
    assert_unjudged(&printed);
    assert_prints(
        &printed,
        &["clockworker 0.2.6", "async-task loop", "churning", "Zipf", "Parked tasks", "seed 3"],
    );
    let written = fs::read_to_string(&file).unwrap();
    check_suite(&serde_json::from_str(&written).unwrap());
    check_artefacts(directory.path(), &written, &printed);
}

fn check_suite(report: &Value) {
    assert_eq!(report["schema"], "clockworker-overhead");
    assert_eq!(report["note"], "quick: not a measurement");
    let cells = report["cells"].as_array().unwrap();
    let executors = arms(&cells[0]);
    assert!(ARMS.iter().all(|arm| executors.contains(arm)), "{executors:?}");
    let sections: Vec<&[Value]> = cells.chunk_by(|one, next| one["section"] == next["section"]).collect();
    assert_eq!(sections.len(), SECTIONS.len());
    for (section, (name, count, arms)) in sections.into_iter().zip(SECTIONS) {
        assert_eq!(section[0]["section"], name);
        let first = section.iter().take_while(|cell| cell["quantities"] == section[0]["quantities"]);
        assert_eq!(first.count(), count, "{name}");
        assert_eq!(section[0]["arms"].as_array().unwrap().len(), arms.unwrap_or(executors.len()), "{name}");
        section.iter().for_each(check_cell);
    }
    assert!(report["bars"].as_array().unwrap().len() >= 17, "{}", report["bars"]);
}

/// Everything that can be measured has its samples, and LocalSet and clockworker are measured everywhere.
fn check_cell(cell: &Value) {
    for quantity in cell["quantities"].as_array().unwrap() {
        for arm in cell["arms"].as_array().unwrap() {
            let figure = &arm["figures"][quantity["key"].as_str().unwrap()];
            let ours = ["local_set", "woken_first"].contains(&arm["arm"].as_str().unwrap());
            assert!(!figure.is_null() || !ours, "{quantity} of {}", arm["arm"]);
            if !figure.is_null() {
                assert_eq!(figure["samples"].as_array().unwrap().len(), 2);
                assert!(figure["value"].is_number());
            }
        }
    }
}

fn check_artefacts(directory: &Path, json: &str, printed: &str) {
    let names = names_in(directory);
    let run = names.iter().find(|name| name.ends_with("-seed3")).expect("every run has its folder");
    let read = |name| fs::read_to_string(directory.join(run).join(name)).unwrap();
    assert_eq!(read("result.json"), json.trim_end());
    assert_eq!(read("report.txt"), printed);
}

#[test]
fn overhead_measures_what_it_is_told_to() {
    let directory = TempDir::new().unwrap();
    let artefacts = directory.path().to_str().unwrap();
    let line = format!("overhead --quick --only memory,spawn --arms qlas --rounds 3 --artefacts {artefacts}");
    let printed = printed_by(&line);
    assert!(printed.contains("QLAS") && printed.contains("│ LocalSet"), "{printed}");
    assert!(printed.contains("memory: ") && printed.contains("spawn: "), "{printed}");
    assert!(!printed.contains("LocalRuntime") && !printed.contains("polls: "), "{printed}");
    printed_by(&line);
    assert_eq!(names_in(directory.path()).len(), 2, "every run has its folder");
}

#[test]
fn quick_programs_have_every_program_by_every_arm_and_no_verdict() {
    let (printed, report) = quick("programs --seed 5");
    assert_eq!(report["arguments"]["seed"], 5);
    let listed = programs();
    assert!(listed.len() >= 35, "{listed:?}");
    let cells = report["cells"].as_array().unwrap();
    assert_eq!(cells.iter().map(|cell| cell["program"].as_str().unwrap()).collect::<Vec<_>>(), listed);
    for cell in cells {
        assert!(printed.contains(cell["program"].as_str().unwrap()), "{cell} is missing in:\n{printed}");
        assert_eq!(arms(cell), ["base", "base_again", "clockworker"]);
        check_program(cell["arms"].as_array().unwrap());
    }
    assert!(report["bars"].as_array().unwrap().len() >= listed.len() - 3, "{}", report["bars"]);
}

/// The names that `programs --list` has.
fn programs() -> Vec<String> {
    let name = |line: &str| line.split_once(' ').expect("a name and a title").0.to_owned();
    printed_by("programs --list").lines().map(name).collect()
}

/// Memory is not told on all systems; all else is.
fn check_program(arms: &[Value]) {
    let figures = arms[0]["figures"].as_object().unwrap();
    assert!(!figures.is_empty() || !cfg!(target_os = "linux"), "{arms:?}");
    for figure in figures.keys() {
        let by_arm = || arms.iter().map(|arm| &arm["figures"][figure]);
        assert!(by_arm().all(|found| found["samples"].as_array().unwrap().len() == 2), "{figure}: {arms:?}");
        let compared = by_arm().skip(1).all(|found| found["ratio"]["median"].as_f64() > Some(0.0));
        let nothing =
            |found: &Value| found["samples"].as_array().unwrap().iter().any(|one| one.as_f64() <= Some(0.0));
        // A handful of connections may fit into memory that was there before, and a busy machine may miss all timers.
        let may_be_nothing = ["memory_each_bytes", "p99_ns"].contains(&figure.as_str());
        assert!(compared || may_be_nothing && by_arm().any(nothing), "{figure}: {arms:?}");
    }
}

#[test]
fn programs_are_run_that_are_named() {
    let printed = printed_by("programs --quick --only pairs,memory_burst --rounds 3");
    assert_prints(&printed, &["Medians of 3 rounds", "p99.9", "memory_burst"]);
    assert!(!printed.contains("ring_1000"), "{printed}");
}

#[test]
fn one_scenario_is_one_table() {
    let printed = printed_by("compare --quick --scenario overhead --rounds 2");
    assert!(printed.contains("× LocalSet") && !printed.contains("queueing"), "{printed}");
}

#[test]
fn nonsense_is_refused_in_one_line() {
    for (arguments, wanted) in [
        (&["compare", "--scenario", "latency"][..], "possible values: overhead, background"),
        (&["compare", "--rounds", "many"], "'many'"),
        (&["compare", "--rounds", "0"], "'0'"),
        (&["compare", "--rounds=-4"], "'-4'"),
        (&["compare", "--repetitions", "1e3"], "'1e3'"),
        (&["compare", "--seed", "18446744073709551616"], "'18446744073709551616'"),
        (&["compare", "--seed"], "--seed"),
        (&["compare", "--no-such-option"], "--no-such-option"),
        (&["compare", "overhead"], "'overhead'"),
        (&["compare", "--quick", "--quick"], "--quick"),
        (&["compare", "--scenario", "two\n\nlines"], "two lines"),
        (&["contrast"], "'contrast'"),
        (&["overhead", "--only", "poll"], "possible values: polls, spawn, wake"),
        (&["overhead", "--arms", "local_set,async_std"], "'async_std'"),
        (&["overhead", "--rounds", "1"], "'1'"),
        (&["programs", "--only", "pairs,ping"], "'ping'"),
    ] {
        assert_refused(&run(arguments), wanted);
    }
}

#[test]
fn a_refused_request_leaves_no_file() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("result.json");
    let output = run(&["compare", "--json", file.to_str().unwrap(), "--scenario", "nothing"]);
    assert_refused(&output, "'nothing'");
    assert!(names_in(directory.path()).is_empty());
}

#[test]
fn an_unwritable_file_is_refused_before_the_run() {
    let directory = TempDir::new().unwrap();
    let missing = directory.path().join("missing").join("result.json");
    let output = run(&["compare", "--json", missing.to_str().unwrap()]);
    assert_refused(&output, "result.json': No such file");
    assert!(!text(&output.stderr).contains(".clockworker-compare"), "drafts are no business of the user");
    assert_refused(&run(&["compare", "--json", directory.path().to_str().unwrap()]), "is a directory");
    assert_refused(&run(&["compare", "--json", ""]), "--json");
    assert!(names_in(directory.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn devices_are_not_replaced_by_a_file() {
    use std::os::unix::fs::FileTypeExt;

    assert_refused(&run(&["compare", "--json", "/dev/null"]), "not a regular file");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[cfg(unix)]
#[test]
fn a_link_goes_on_leading_to_the_file() {
    let directory = TempDir::new().unwrap();
    let (target, link) = (directory.path().join("target.json"), directory.path().join("link.json"));
    fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let arguments = ["compare", "--quick", "--scenario", "overhead", "--json", link.to_str().unwrap()];
    assert!(run(&arguments).status.success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().starts_with('{'));
}

#[test]
fn help_and_version_are_no_errors() {
    for (arguments, wanted) in [
        (&["--help"][..], "compare"),
        (&["compare", "--help"], "--quick"),
        (&["overhead", "--help"], "boxed_loop"),
        (&["--version"], "clockworker-benches "),
    ] {
        let output = run(arguments);
        assert!(output.status.success());
        assert!(output.stderr.is_empty());
        assert!(text(&output.stdout).contains(wanted));
    }
}

#[test]
fn no_subcommand_is_answered_with_help() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("Usage: clockworker-benches"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let arguments = ["compare", "--quick", "--scenario", "overhead"];
    let mut child = program(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(complaints, "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_quick_tail_has_every_service_time_and_no_verdict() {
    let (_, report) = quick("tail");
    let cells = report["cells"].as_array().unwrap();
    let services: Vec<&str> = cells.iter().map(|cell| cell["service"].as_str().unwrap()).collect();
    assert_eq!(services, ["exponential", "bimodal", "pareto"]);
    for cell in cells {
        assert_eq!(
            arms(cell),
            ["local_set", "local_set_again", "runnable_fifo", "arrival_fifo", "las", "qlas", "serpt"]
        );
        for arm in cell["arms"].as_array().unwrap() {
            check_tail_arm(arm, &cell["arms"][0]);
        }
    }
}

fn check_tail_arm(arm: &Value, baseline: &Value) {
    let (figures, distributions) = (&arm["figures"], arm["distributions"].as_object().unwrap());
    let jobs = |arm: &Value| arm["distributions"]["slowdown"]["count"].as_u64().unwrap();
    assert_eq!(jobs(arm), jobs(baseline), "every arm gets the same schedule");
    let of_sizes = distributions.iter().filter(|(key, _)| key.starts_with("slowdown of "));
    let of_classes: u64 = of_sizes.map(|(_, class)| class["count"].as_u64().unwrap()).sum();
    assert_eq!(jobs(arm), of_classes, "every job is in a class");
    // A clock that gives the same for start and end would make a slowdown below 1.
    assert!(figures["slowdown.p50"]["value"].as_f64().unwrap() >= 1.0);
    let by_simulated = &figures["mean_by_simulated"]["samples"];
    assert!(by_simulated.as_array().unwrap().iter().all(|ratio| ratio.as_f64().unwrap() > 0.0));
    assert_eq!(figures["response_ns.mean"]["ratio"].is_null(), arm["arm"] == "local_set");
}

#[test]
fn tail_measures_the_cells_that_are_named() {
    let (_, report) = quick("tail --service bimodal --load 50,95 --piece 50");
    let loads: Vec<&Value> =
        report["cells"].as_array().unwrap().iter().map(|cell| &cell["load_percent"]).collect();
    assert_eq!(loads, [50, 95]);
    assert_refused(&run(&["tail", "--load", "100"]), "--load");
    assert_refused(&run(&["tail", "--service", "uniform"]), "uniform");
}

#[test]
fn a_quick_priority_has_every_scene_and_no_verdict() {
    let (_, report) = quick("priority");
    let scenes = report["cells"].as_array().unwrap();
    let named: Vec<(&str, u64)> = scenes
        .iter()
        .map(|scene| (scene["section"].as_str().unwrap(), scene["background_poll_us"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        named,
        [("shares", 20), ("shares", 100), ("shares", 500), ("request", 100), ("sleeping", 100)]
    );
    for scene in scenes {
        let found = scene["arms"].as_array().unwrap();
        assert_eq!(
            arms(scene)[..4],
            ["foreground_only", "foreground_only_again", "local_set", "local_set_again"]
        );
        assert_eq!(found.len(), 7);
        let tasks = |arm: &Value| arm["distributions"]["total_latency_ns"]["count"].as_u64().unwrap();
        assert!(found.iter().all(|arm| tasks(arm) == tasks(&found[0])), "the same schedule for all");
        let ratio = |arm: usize, figure: &str| found[arm]["figures"][figure]["ratio"]["median"].as_f64();
        assert!(ratio(0, "total_latency_ns.p99").is_none() && ratio(4, "total_latency_ns.p99").is_some());
        // A machine that is busy may leave LocalSet's background without a poll, and the others without a ratio.
        let polled = found[2]["figures"]["background_cpu"]["samples"].as_array().unwrap();
        let polled = polled.iter().all(|cpu| cpu.as_f64().unwrap() > 0.0);
        assert_eq!((ratio(2, "background_cpu"), ratio(3, "background_cpu").is_some()), (None, polled));
        assert!(found[0]["figures"]["background_cpu"].is_null());
    }
    assert_refused(&run(&["priority", "--only", "compare"]), "compare");
}
