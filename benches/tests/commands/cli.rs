//! The program from outside: what it prints, what it writes, how it refuses.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{arms, assert_prints, assert_refused, list, printed_by, program, quick, run, text};

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A figure of an arm by round.
fn samples(arm: &Value, figure: &str) -> Vec<f64> {
    list(&arm["figures"][figure], "samples").iter().map(|one| one.as_f64().unwrap()).collect()
}

fn ratio(arm: &Value, figure: &str) -> Option<f64> {
    arm["figures"][figure]["ratio"]["median"].as_f64()
}

/// How many values a distribution has, the same for all arms of a cell as they get the same schedule.
fn count(cell: &Value, distribution: &str) -> u64 {
    let count = |arm: &Value| arm["distributions"][distribution]["count"].as_u64().unwrap();
    let arms = list(cell, "arms");
    assert!(arms.iter().all(|arm| count(arm) == count(&arms[0])), "{cell}");
    count(&arms[0])
}

#[test]
fn a_quick_compare_prints_both_tables_and_writes_the_file() {
    let (printed, report) = quick("compare --seed 7 --repetitions 1");
    assert_prints(
        &printed,
        &["× LocalSet", "WokenFirst, two queues", "QLAS", "queueing", "two runtimes", "seed 7"],
    );
    assert_eq!(report["schema_version"], 2);
    assert_eq!(report["arguments"]["quick"], true);
    assert_eq!(report["arguments"]["seed"], 7);
    for fact in ["date", "cpu", "cores", "kernel", "clock_source", "pinning", "rustc", "tokio", "revision"] {
        assert!(!report["facts"][fact].is_null(), "{fact}");
    }
    let [shapes @ .., background] = list(&report, "cells") else { panic!("no cells") };
    assert_eq!(shapes.len(), 4);
    shapes.iter().for_each(check_shape);
    check_background(background);
    // A machine that is busy may have left LocalSet no time for the background, and no ratio to it.
    assert!(list(&report, "bars").len() >= 5, "{}", report["bars"]);
}

/// As many samples as rounds, whichever process took which; the figures of both scenarios come through.
#[test]
fn processes_take_the_rounds_in_turn() {
    let (_, report) = quick("compare --rounds 3 --repetitions 2 --processes 2");
    let [shapes @ .., background] = list(&report, "cells") else { panic!("no cells") };
    assert_eq!((shapes.len(), &report["arguments"]["processes"]), (4, &Value::from(2)));
    for arm in shapes.iter().flat_map(|shape| list(shape, "arms")) {
        let samples = samples(arm, "ns_per_poll");
        assert!(samples.len() == 3 && samples.iter().all(|&sample| sample > 0.0), "{arm}");
    }
    assert!(count(background, "total_latency_ns") > 0);
    let refused = run(&["compare", "--processes", "0"]);
    assert_refused(&refused, "invalid value '0' for '--processes <N>'");
}

fn check_shape(shape: &Value) {
    let two = ["woken_first_one_queue", "woken_first_two_queues"];
    assert_eq!(
        arms(shape),
        ["local_set", "local_set_again", two[0], two[1], "qlas", "las", "serpt", "fair_groups"]
    );
    for arm in list(shape, "arms") {
        let figure = &arm["figures"]["ns_per_poll"];
        assert_eq!(samples(arm, "ns_per_poll").len(), 2);
        assert!(figure["value"].as_f64().unwrap() > 0.0);
        let [low, median, high] = ["low", "median", "high"].map(|field| figure["ratio"][field].as_f64());
        assert_eq!(figure["ratio"].is_null(), arm["arm"] == "local_set");
        assert!(low <= median && median <= high, "{figure}");
    }
}

fn check_background(background: &Value) {
    assert_eq!(
        arms(background),
        ["local_set_foreground_only", "local_set", "clockworker", "two_runtimes_nice"]
    );
    assert!(count(background, "total_latency_ns") > 0);
    for arm in list(background, "arms") {
        assert_eq!(samples(arm, "total_latency_ns.p99").len(), 1);
        for times in ["queueing_delay_ns", "total_latency_ns"] {
            let part = |part| arm["figures"][format!("{times}.{part}")]["value"].as_f64().unwrap();
            assert!(part("p50") <= part("p90") && part("p90") <= part("p99"));
        }
        let alone = arm["arm"] == "local_set_foreground_only";
        assert_eq!(arm["figures"]["background_rate"].is_null(), alone);
    }
}

/// Sections of `overhead`, with how many cells their first measure has, and arms if it is not of executors.
const SECTIONS: [(&str, usize, Option<usize>); 7] = [
    ("polls", 5, None),
    ("spawn", 3, None),
    ("wake", 2, None),
    ("queues", 3, Some(7)),
    ("groups", 8, Some(6)),
    ("memory", 3, None),
    ("idle", 1, None),
];

/// Arms of `overhead` that every build on every system has.
const ARMS: &str = "local_set local_set_again woken_first two_queues qlas las serpt fair_groups published local_runtime \
    local_executor futures_unordered local_pool task_loop boxed_loop";

#[test]
fn overhead_measures_every_arm_at_every_shape() {
    let directory = TempDir::new().unwrap();
    let (printed, report) = quick(&format!("overhead --artefacts {} --seed 3", directory.path().display()));
    assert_prints(
        &printed,
        &["clockworker 0.2.6", "async-task loop", "churning", "Zipf", "Parked tasks", "seed 3"],
    );
    let cells = list(&report, "cells");
    let executors = arms(&cells[0]);
    assert!(ARMS.split(' ').all(|arm| executors.contains(&arm)), "{executors:?}");
    let sections: Vec<&[Value]> = cells.chunk_by(|one, next| one["section"] == next["section"]).collect();
    assert_eq!(sections.len(), SECTIONS.len());
    for (section, (name, count, arms)) in sections.into_iter().zip(SECTIONS) {
        assert_eq!(section[0]["section"], name);
        let first = section.iter().take_while(|cell| cell["quantities"] == section[0]["quantities"]);
        assert_eq!(first.count(), count, "{name}");
        assert_eq!(list(&section[0], "arms").len(), arms.unwrap_or(executors.len()), "{name}");
        section.iter().for_each(check_cell);
    }
    assert!(list(&report, "bars").len() >= 17, "{}", report["bars"]);
    let names = names_in(directory.path());
    let run = names.iter().find(|name| name.ends_with("-seed3")).expect("every run has its folder");
    let read = |name| fs::read_to_string(directory.path().join(run).join(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&read("result.json")).unwrap(), report);
    assert_eq!(read("report.txt"), printed);
}

/// Everything that can be measured has its samples, and LocalSet and clockworker are measured everywhere.
fn check_cell(cell: &Value) {
    for quantity in list(cell, "quantities") {
        for arm in list(cell, "arms") {
            let key = quantity["key"].as_str().unwrap();
            let ours = arm["arm"] == "local_set" || arm["arm"] == "woken_first";
            if ours || !arm["figures"][key].is_null() {
                assert_eq!(samples(arm, key).len(), 2, "{quantity} of {}", arm["arm"]);
                assert!(arm["figures"][key]["value"].is_number());
            }
        }
    }
}

#[test]
fn quick_programs_have_every_program_by_every_arm() {
    let (printed, report) = quick("programs --seed 5");
    assert_eq!(report["arguments"]["seed"], 5);
    let listed = printed_by("programs --list");
    let listed: Vec<&str> = listed.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert!(listed.len() >= 35, "{listed:?}");
    let cells = list(&report, "cells");
    assert_eq!(cells.iter().map(|cell| cell["program"].as_str().unwrap()).collect::<Vec<_>>(), listed);
    assert_prints(&printed, &listed);
    for cell in cells {
        assert_eq!(arms(cell), ["base", "base_again", "clockworker"]);
        check_program(list(cell, "arms"));
    }
    assert!(list(&report, "bars").len() >= listed.len() - 3, "{}", report["bars"]);
}

/// Memory is not told on all systems; all else is.
fn check_program(arms: &[Value]) {
    let figures = arms[0]["figures"].as_object().unwrap();
    assert!(!figures.is_empty() || !cfg!(target_os = "linux"), "{arms:?}");
    for figure in figures.keys() {
        let mut found = arms.iter().map(|arm| samples(arm, figure));
        assert!(found.clone().all(|samples| samples.len() == 2), "{figure}: {arms:?}");
        let compared = arms[1..].iter().all(|arm| ratio(arm, figure) > Some(0.0));
        // A handful of connections may fit into memory that was there before, and a busy machine may miss all timers.
        let nothing = found.any(|samples| samples.iter().any(|&one| one <= 0.0));
        let may_be_nothing = ["memory_each_bytes", "p99_ns"].contains(&figure.as_str());
        assert!(compared || may_be_nothing && nothing, "{figure}: {arms:?}");
    }
}

#[test]
fn a_quick_tail_has_every_service_time() {
    let (_, report) = quick("tail");
    let cells = list(&report, "cells");
    let services: Vec<&str> = cells.iter().map(|cell| cell["service"].as_str().unwrap()).collect();
    assert_eq!(services, ["exponential", "bimodal", "pareto"]);
    for cell in cells {
        let named = arms(cell);
        assert_eq!(named[..2], ["local_set", "local_set_again"]);
        assert_eq!(named[2..], ["runnable_fifo", "arrival_fifo", "las", "qlas", "serpt"]);
        let jobs = count(cell, "slowdown");
        list(cell, "arms").iter().for_each(|arm| check_tail_arm(arm, jobs));
    }
}

fn check_tail_arm(arm: &Value, jobs: u64) {
    let distributions = arm["distributions"].as_object().unwrap().iter();
    let of_sizes = distributions.filter(|(key, _)| key.starts_with("slowdown of "));
    let of_classes: u64 = of_sizes.map(|(_, class)| class["count"].as_u64().unwrap()).sum();
    assert_eq!(jobs, of_classes, "every job is in a class");
    // A clock that gives the same for start and end would make a slowdown below 1.
    assert!(arm["figures"]["slowdown.p50"]["value"].as_f64().unwrap() >= 1.0);
    assert!(samples(arm, "mean_by_simulated").iter().all(|&ratio| ratio > 0.0));
    assert_eq!(ratio(arm, "response_ns.mean").is_none(), arm["arm"] == "local_set");
}

#[test]
fn a_quick_priority_has_every_scene() {
    let (_, report) = quick("priority");
    let scenes = list(&report, "cells");
    let name =
        |scene: &Value| format!("{} {}", scene["section"].as_str().unwrap(), scene["background_poll_us"]);
    let named: Vec<String> = scenes.iter().map(name).collect();
    assert_eq!(named.join(", "), "shares 20, shares 100, shares 500, request 100, sleeping 100");
    for scene in scenes {
        let named = arms(scene);
        assert_eq!(named[..2], ["foreground_only", "foreground_only_again"]);
        assert_eq!((&named[2..4], named.len()), (&["local_set", "local_set_again"][..], 7));
        assert!(count(scene, "total_latency_ns") > 0);
        let found = list(scene, "arms");
        let compared = |arm: usize| ratio(&found[arm], "total_latency_ns.p99").is_some();
        assert!(!compared(0) && compared(4));
        // A machine that is busy may leave LocalSet's background without a poll, and the others without a ratio.
        let polled = samples(&found[2], "background_cpu").iter().all(|&cpu| cpu > 0.0);
        assert_eq!(ratio(&found[2], "background_cpu"), None);
        assert_eq!(ratio(&found[3], "background_cpu").is_some(), polled);
        assert!(found[0]["figures"]["background_cpu"].is_null());
    }
}

/// Scenes of `tenants`, with how many cells and arms each has.
const SCENES: [(&str, usize, usize); 7] = [
    ("flood", 1, 13),
    ("arrivals", 4, 9),
    ("history", 1, 9),
    ("visitor", 1, 9),
    ("unlike", 1, 9),
    ("shares", 3, 2),
    ("cap", 2, 1),
];

#[test]
fn quick_tenants_have_every_scene_under_every_policy() {
    let (printed, report) = quick("tenants --seed 3");
    assert_prints(
        &printed,
        &["FairGroups", "an idle queue", "1,000 tenants by Zipf's law", "A cap of 20 %, alone"],
    );
    let cells = list(&report, "cells");
    let scenes: Vec<&[Value]> = cells.chunk_by(|one, next| one["scene"] == next["scene"]).collect();
    assert_eq!(scenes.len(), SCENES.len());
    for (scene, (name, count, arms)) in scenes.into_iter().zip(SCENES) {
        assert_eq!((scene[0]["scene"].as_str(), scene.len()), (Some(name), count));
        for cell in scene {
            assert_eq!(list(cell, "arms").len(), arms, "{name}");
            assert!(
                list(cell, "arms").iter().all(|arm| !arm["figures"].as_object().unwrap().is_empty()),
                "{cell}"
            );
        }
    }
    let flooded = list(&cells[0], "arms");
    assert_eq!(arms(&cells[0])[..2], ["local_set", "local_set_again"]);
    assert!(flooded.iter().all(|arm| samples(arm, "p99_by_alone").iter().all(|&ratio| ratio > 0.0)));
    assert!(cells[1..5].iter().all(|cell| count(cell, "greatest_ns") > 0));
    assert_eq!(list(&report, "bars").len(), 15, "{}", report["bars"]);
}

#[test]
fn what_is_named_is_measured_and_nothing_else() {
    for (line, wanted, unwanted) in [
        ("compare --quick --scenario overhead --rounds 2", &["× LocalSet"][..], &["queueing"][..]),
        (
            "overhead --quick --only memory,spawn --arms qlas --rounds 3",
            &["QLAS", "│ LocalSet", "memory: ", "spawn: "],
            &["LocalRuntime", "polls: "],
        ),
        (
            "programs --quick --only pairs,memory_burst --rounds 3",
            &["Medians of 3 rounds", "p99.9", "memory_burst"],
            &["ring_1000"],
        ),
        (
            "tail --quick --service bimodal --load 50,95 --piece 50",
            &["bimodal at 50 %", "bimodal at 95 %", "up to 50 µs"],
            &["pareto", "at 90 %"],
        ),
        (
            "tenants --quick --only arrivals,history --tenants 7 --load 50 --alone 10 --arms qlas",
            &["7 tenants alike, at 50 %", "alone for 10 ms", "QLAS", "LocalSet again"],
            &["FairGroups", "One floods", "Shares"],
        ),
        (
            "sessions --quick --only fanout_overhead --sessions 2 --arms queues --skip-unheard --payload shared",
            &["fanout_overhead, 2 sessions", "three queues"],
            &["Checkpoints alone", "imports alone", "event_clone_ops_total"],
        ),
        (
            "service --quick --host tokio --compactors 0,3 --chunks 50 --arms qlas",
            &["3 × 50 µs", "QLAS"],
            &["monoio,", "two queues"],
        ),
        (
            "tcp --quick --hosts tokio --only plain --connections 1,3 --loads 40",
            &["TCP echo, alone", "tokio, 1 connection, 1,024 B", "tokio, 3 connections, 1,024 B", "(40 %)"],
            &["monoio,", "smol", "background work", "by host budget", "(50 %)"],
        ),
    ] {
        let printed = printed_by(line);
        assert_prints(&printed, wanted);
        assert!(!unwanted.iter().any(|unwanted| printed.contains(unwanted)), "{line}:\n{printed}");
    }
}

#[test]
fn every_run_has_its_folder_of_artefacts() {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().display();
    let line = format!("overhead --quick --only idle --arms qlas --seed 3 --artefacts {folder}");
    printed_by(&line);
    printed_by(&line);
    assert_eq!(names_in(directory.path()).len(), 2);
}

#[test]
fn nonsense_is_refused_in_one_line() {
    for (line, wanted) in [
        ("compare --rounds 0", "'0'"),
        ("compare --scenario two\n\nlines", "two lines"),
        ("compare --enforce --quick", "cannot be used with"),
        ("actions --once --database x.db --enforce", "cannot be used with"),
        ("overhead --only poll", "possible values: polls, spawn, wake"),
        ("overhead --rounds 1", "'1'"),
        ("programs --only pairs,ping", "'ping'"),
        ("tail --load 100", "--load"),
        ("tenants --tenants 0", "--tenants"),
        ("actions --instances 0", "--instances"),
        ("actions --workers 0", "--workers"),
        ("actions --shares 1,2,3", "four numbers"),
        ("actions --shares 1,0,1,1", "four numbers from 1"),
        ("actions --arms tokio", "possible values: local_set, imports"),
        ("actions --without speed", "possible values: claim"),
        ("actions --once", "--database"),
        ("actions --database x.db", "--once"),
        ("actions --once --database /nowhere/x.db --instances 9", "cannot begin in '/nowhere/x.db'"),
        ("actions --once --resume --database x.db --instances 9", "cannot be used with"),
        ("tenants --only crowd", "possible values: flood, arrivals"),
        ("sessions --sessions 0", "--sessions"),
        ("sessions --only flood", "possible values: checkpoint_overhead, fanout_overhead"),
        ("sessions --shares 6:3", "6:3:1"),
        ("sessions --request 5", "--request"),
        ("service --compactors 1001", "--compactors"),
        ("service --host smol", "tokio"),
        ("service --arms native", "nothing to compare"),
        ("service --chunks 0", "--chunks"),
        ("service-server {}", "missing field"),
        ("tcp --connections 0", "--connections"),
        ("tcp --sizes 65537", "--sizes"),
        ("tcp --window 1", "--window"),
        ("tcp --polls 100-20", "--polls"),
        ("tcp-server {}", "missing field"),
        #[cfg(unix)]
        ("compare --json /dev/null", "not a regular file"),
    ] {
        assert_refused(&run(&line.split(' ').collect::<Vec<_>>()), wanted);
    }
}

#[test]
fn a_request_that_is_refused_leaves_no_file() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("result.json");
    assert_refused(
        &run(&["compare", "--json", file.to_str().unwrap(), "--scenario", "nothing"]),
        "'nothing'",
    );
    assert!(names_in(directory.path()).is_empty());
}

/// Ended once its load generator runs (by TERM, as INT is ignored by what a shell runs in the background): the file is what it was,
/// and no draft is beside it.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_the_file_as_it_was() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("results.json");
    fs::write(&file, "old").unwrap();
    let json = ["--json", file.to_str().unwrap()];
    let arguments = [&["compare", "--scenario", "background", "--processes", "1"], &json[..]].concat();
    let mut child = program(&arguments).stdout(Stdio::null()).spawn().unwrap();
    // The process measures itself, so it keeps the threads that it starts.
    let threads = format!("/proc/{}/task", child.id());
    while fs::read_dir(&threads).unwrap().count() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let interrupted =
        Command::new("sh").args(["-c", &format!("kill -s TERM {}", child.id())]).status().unwrap();
    assert!(interrupted.success() && !child.wait().unwrap().success());
    assert_eq!(
        (fs::read_to_string(&file).unwrap(), names_in(directory.path())),
        ("old".into(), vec!["results.json".into()])
    );
}

#[test]
fn help_and_version_are_no_errors() {
    assert_prints(&printed_by("overhead --help"), &["--quick", "boxed_loop"]);
    assert_prints(&printed_by("--version"), &["clockworker-benches "]);
    let no_command = run(&[]);
    assert_eq!(no_command.status.code(), Some(2));
    assert!(text(&no_command.stderr).contains("Usage: clockworker-benches"));
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
