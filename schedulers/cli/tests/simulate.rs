//! `clockworker-simulate` from outside: what it prints, what it writes, that it repeats itself, how it refuses.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use clockworker_schedulers::simulate::POLICIES;
use serde_json::Value;
use tempfile::TempDir;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clockworker-simulate"));
    command.args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program prints UTF-8")
}

fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "no progress bar where there is no terminal");
    text(&output.stdout).to_owned()
}

fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    let problem = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{problem}");
    assert!(output.stdout.is_empty());
    problem.strip_prefix("error: ").expect("it begins so").to_owned()
}

fn json(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn every_scheduler_is_asked_and_judged() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("result.json");
    let path = file.to_str().unwrap();
    let service = "bimodal:short=10us,long=1ms,part=0.02";
    let target = "p90 <= 50us";
    let printed =
        succeed(&["--jobs", "5000", "--service", service, "--target", target, "--seed", "4", "--json", path]);
    for wanted in ["RunnableFifo", "LAS", "QLAS", "= 10us", "= 1ms", "load 0.7", "seed 4"] {
        assert!(printed.contains(wanted), "{wanted} is missing in:\n{printed}");
    }

    let report = json(&file);
    assert_eq!((&report["schema"], &report["schema_version"]), (&"clockworker-simulate".into(), &1.into()));
    assert_eq!(report["arguments"]["targets"][0], target);
    let cases = report["cases"].as_array().unwrap();
    let schedulers: Vec<&Value> = cases.iter().map(|case| &case["queues"][0]["scheduler"]).collect();
    assert_eq!(schedulers, POLICIES.iter().map(|policy| policy.name()).collect::<Vec<_>>());
    for case in cases {
        check_case(case);
    }
    let met = cases.iter().filter(|case| case["meets"] == true).count();
    assert!(met > 0 && met < cases.len(), "the target tells them apart:\n{printed}");
    assert!(printed.contains("p90 <= 50us: met by "), "{printed}");
}

fn check_case(case: &Value) {
    let queue = &case["queues"][0];
    assert_eq!(queue["jobs"], 5_000);
    for field in ["response_ns", "slowdown"] {
        let [p50, p90, p99, p99_9] =
            ["p50", "p90", "p99", "p99_9"].map(|at| queue[field][at].as_f64().unwrap());
        assert!(p50 <= p90 && p90 <= p99 && p99 <= p99_9, "{queue}");
        assert!(queue[field]["mean"].as_f64() > Some(0.0) && queue[field]["standard_error"].is_f64());
    }
    let classes = queue["classes"].as_array().unwrap();
    assert_eq!(classes.iter().map(|class| class["jobs"].as_u64().unwrap()).collect::<Vec<_>>(), [4_900, 100]);
    let verdict = &case["targets"][0];
    assert_eq!(verdict["found"], queue["response_ns"]["p90"]);
    assert_eq!(verdict["met"], verdict["found"].as_f64() <= Some(50_000.0));
    assert_eq!(case["meets"], verdict["met"]);
}

#[test]
fn a_seed_means_the_same_bytes_on_any_number_of_threads() {
    let directory = TempDir::new().unwrap();
    let bytes = |name: &str, seed: &str, threads: &str| {
        let file = directory.path().join(name);
        let arguments = ["--jobs", "2000", "--seed", seed, "--threads", threads, "--json"];
        let printed = succeed(&[&arguments[..], &[file.to_str().unwrap()]].concat());
        (printed, fs::read(file).unwrap())
    };
    let first = bytes("first", "1", "1");
    assert_eq!(first, bytes("again", "1", "1"));
    assert_eq!(first, bytes("threads", "1", "3"));
    assert_ne!(first.1, bytes("other", "2", "1").1);
}

#[test]
fn shares_and_schedulers_of_several_queues_are_tried() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("result.json");
    let arguments = [
        "--queues=front:1:100us,back:1:qlas",
        "--shares=1:1,99:1",
        "--schedulers=fifo,las",
        "--load=front=0.3",
        "--load=back=busy",
        "--service=front=constant:size=50us",
        "--quantum=back=100us",
        "--target=front p99 slowdown <= 6",
        "--jobs=2000",
        "--json",
        file.to_str().unwrap(),
    ];
    let printed = succeed(&arguments);
    assert!(printed.contains("back: always busy; polls of at most 100us, requests of 500us"), "{printed}");
    let cases = &json(&file)["cases"];
    let seen: Vec<(u64, &str, &str)> = cases
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            let (front, back) = (&case["queues"][0], &case["queues"][1]);
            assert!(back["response_ns"].is_null() && back["jobs"] == 0);
            let cpu = front["cpu"].as_f64().unwrap() + back["cpu"].as_f64().unwrap();
            assert!((cpu - 1.0).abs() < 1e-9, "the thread is never idle: {cpu}");
            (
                front["share"].as_u64().unwrap(),
                front["scheduler"].as_str().unwrap(),
                back["scheduler"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen, [(1, "fifo", "qlas"), (1, "las", "qlas"), (99, "fifo", "qlas"), (99, "las", "qlas")]);
}

#[test]
fn a_queue_that_asks_for_more_than_it_is_left_has_no_times() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("result.json");
    let stable = |more: &[&str]| {
        let arguments =
            ["--schedulers=fifo", "--jobs=2000", "--target=p99 <= 1000s", "--json", file.to_str().unwrap()];
        let printed = succeed(&[&arguments[..], more].concat());
        assert!(!printed.contains("nearest"), "it is met, or nothing comes near: {printed}");
        let case = &json(&file)["cases"][0];
        let is_stable = case["queues"][0]["stable"].as_bool().unwrap();
        assert_eq!(
            (case["meets"].as_bool(), printed.contains("unstable")),
            (Some(is_stable), !is_stable),
            "{printed}"
        );
        is_stable
    };
    assert!(stable(&["--load=0.99"]));
    assert!(!stable(&["--load=1"]));
    assert!(!stable(&["--load=0.9", "--overhead=5us", "--quantum=20us"]), "polls take more than their work");
    let beside = ["--queues=front:1,back:1", "--load=back=busy"];
    assert!(stable(&[&beside[..], &["--load=front=0.49"]].concat()));
    assert!(!stable(&[&beside[..], &["--load=front=0.5"]].concat()));
}

#[test]
fn a_trace_is_run_as_it_is_or_at_a_load() {
    let directory = TempDir::new().unwrap();
    let (trace, file) = (directory.path().join("trace.csv"), directory.path().join("result.json"));
    fs::write(&trace, "arrival,service\n0us,100us\n10us,20us\n1ms,20us\n").unwrap();
    let with = |more: &[&str]| {
        let arguments =
            ["--trace", trace.to_str().unwrap(), "--schedulers", "fifo", "--json", file.to_str().unwrap()];
        succeed(&[&arguments[..], more].concat());
        json(&file)["cases"][0]["queues"][0].clone()
    };
    let queue = with(&["--quantum", "1s"]);
    assert_eq!(queue["jobs"], 3);
    assert_eq!(queue["response_ns"]["max"], 110_000.0);
    assert!(queue["response_ns"]["standard_error"].is_null(), "there is one run only");
    let queue = with(&["--quantum", "20us"]);
    assert_eq!(queue["response_ns"]["max"], 120_000.0);
    // At seven times the load, the last comes at 143 µs instead of 1 ms.
    let ended = |queue: &Value| queue["cpu"].as_f64().unwrap();
    assert!(ended(&with(&["--load", "0.98"])) > 5.0 * ended(&queue));
}

#[test]
fn nonsense_is_refused() {
    let directory = TempDir::new().unwrap();
    let trace = directory.path().join("trace.csv");
    fs::write(&trace, "arrival,service\n5,7\n3,7\n").unwrap();
    let trace = trace.to_str().unwrap();
    for (arguments, wanted) in [
        (&["--schedulers", "cfs"][..], "'cfs'"),
        (&["--service", "gauss:mean=3us"], "'gauss' is no distribution"),
        (&["--load", "0"], "'0' is no load: a number above 0, or busy"),
        (&["--load", "front=0.5"], "there is no queue 'front'; there are all"),
        (&["--quantum", "0us"], "a quantum must be more than 0"),
        (&["--queues", "a,a"], "there are two queues 'a'"),
        (&["--queues", "a:1:0ns"], "a queue's request must be more than 0"),
        (&["--queues", "a,b", "--shares", "1"], "there are 1 shares for 2 queues"),
        (&["--target", "p99 < 2ms"], "'p99 < 2ms' is no target"),
        (&["--target", "b p99 <= 2ms"], "there is no queue 'b'"),
        (&["--load", "busy"], "every queue is busy: no jobs come"),
        (&["--trace", trace], "trace.csv': line 3: it arrives before the job above it"),
        (&["--trace", trace, "--load", "all=0.5"], "the jobs of a trace have one load"),
        (&["--trace", trace, "--jobs", "50"], "cannot be used with"),
        (&["--groups", "1000001"], "there may be at most 1000000 groups, not 1000001"),
        (&["--trace", "nowhere.csv"], "trace 'nowhere.csv': "),
        (&["--trace", trace, "--service", "constant:size=1us"], "cannot be used with"),
        (&["--theory", "--load", "0.5"], "cannot be used with"),
        (&["--theory", "--jobs", "50"], "cannot be used with"),
        (&["--quick"], "--theory"),
        (&["--threads", "0"], "--threads"),
        (&["--json", "nowhere/result.json"], "cannot write 'nowhere/result.json': No such file"),
    ] {
        let problem = refusal(arguments);
        assert!(problem.contains(wanted), "{problem} does not say {wanted}");
    }
}

#[test]
fn a_quick_check_shows_every_row_and_proves_nothing() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("result.json");
    let printed = succeed(&["--theory", "--quick", "--json", file.to_str().unwrap()]);
    assert!(printed.starts_with("quick: too few jobs to prove anything\n"), "{printed}");
    let report = json(&file);
    assert_eq!((&report["schema"], &report["quick"]), (&"clockworker-simulate-theory".into(), &true.into()));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 17);
    for row in rows {
        assert!(row["formula"].as_f64() > Some(1.0) && row["simulated"].as_f64() > Some(1.0), "{row}");
        let error = row["simulated"].as_f64().unwrap() / row["formula"].as_f64().unwrap() - 1.0;
        assert!((error - row["error"].as_f64().unwrap()).abs() < 1e-9);
        assert_eq!(row["within"], error.abs() <= 0.02);
    }
}
