//! Runs every example to its end and looks at what it prints, so that none rots.
//!
//! `cargo test -p clockworker-examples` builds the examples before it runs this. (With `--test run_all` it does not: build
//! them with `--examples` then.)

#![forbid(unsafe_code)]

mod program;

use std::process::Command;

use clockworker_observe::recorder::Recording;

/// What the example prints.
fn output(name: &str) -> String {
    output_with(name, &[])
}

fn output_with(name: &str, options: &[&str]) -> String {
    let program = program::path(name);
    let output = Command::new(&program).args(options).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{stdout}\n{stderr}", output.status);
    assert_eq!(stderr, "", "{name}");
    stdout.into_owned()
}

#[test]
fn hello() {
    assert_eq!(output("hello"), "hello, world\n");
}

/// How late timers are depends on the machine; that they fire does not.
fn assert_host(name: &str, sent: &[&str], timers: &[&str]) {
    let output = output(name);
    let (late, others): (Vec<&str>, Vec<&str>) = output.lines().partition(|line| line.starts_with("timers "));
    assert_eq!(others, sent, "{output}");
    assert_eq!(late.len(), timers.len(), "{output}");
    for (late, host) in late.into_iter().zip(timers) {
        assert!(late.starts_with(&format!("timers {host} late by ")), "{output}");
        assert!(late.contains(" (most) in a task, ") && late.ends_with(" (most) in run_until"), "{output}");
    }
}

#[test]
fn tokio_host() {
    assert_host("tokio_host", &["one -> ONE", "two -> TWO", "three -> THREE"], &["on tokio are"]);
}

#[test]
fn smol_host() {
    assert_host("smol_host", &["sent ping, got ping"], &["on smol are"]);
}

#[test]
fn no_host() {
    assert_host("no_host", &["sent ping, got ping"], &["of async-io are"]);
}

#[cfg(target_os = "linux")]
#[test]
fn monoio_host() {
    let sent = ["sent ping over epoll, got ping", "sent ping over io_uring, got ping"];
    let timers = ["on monoio, epoll, are", "on monoio, io_uring, are"];
    let drivers = if monoio::utils::detect_uring() { 2 } else { 1 };
    assert_host("monoio_host", &sent[..drivers], &timers[..drivers]);
}

/// In how many frames depends on the machine. It is more work than fits into three.
#[test]
fn frame_loop() {
    let output = output("frame_loop");
    let frames = output.strip_prefix("loaded terrain, textures, sounds beside ").unwrap();
    let frames = frames.strip_suffix(" frames\n").unwrap();
    assert!(frames.parse::<u32>().unwrap() > 3, "{output}");
}

#[cfg(unix)]
#[test]
fn callback_loop() {
    let output = output("callback_loop");
    let expected = ["one -> ONE", "two -> TWO", "three -> THREE", "2262 primes below 20000"];
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}

/// The shares depend on the machine, a little; that both queues were served does not.
#[test]
fn two_queues() {
    let output = output("two_queues");
    let lines: Vec<&str> = output.lines().collect();
    let [_, foreground, background, _, reshared] = lines[..] else { panic!("{output}") };
    assert!(foreground.starts_with("foreground       9"), "{output}");
    assert!(background.starts_with("background       1"), "{output}");
    assert!(reshared.starts_with("at shares of 9 and 9 the background has "), "{output}");
}

/// What each tenant has depends on the machine; that each is served does not.
#[test]
fn tenants() {
    let output = output("tenants");
    let words = output.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let wanted = ["flood 1 64", "gold 3 8", "quiet 1 1"];
    let wanted =
        ["RunnableFifo", "Qlas", "FairGroups"].map(|name| wanted.map(|tenant| format!("{name} {tenant}")));
    assert_eq!(
        words.clone().map(|words| words[..4].join(" ")).collect::<Vec<_>>(),
        wanted.concat(),
        "{output}"
    );
    assert!(words.clone().all(|words| words[4].parse::<u32>().unwrap() > 0), "{output}");
}

#[test]
fn overload() {
    let expected = "\
takes everything answered 30000, refused 0; the last took up to 1.35333s
adaptive limit   answered 30000, refused 14913; the last took up to 10.16ms
tower            answered 30000, refused 14901; the last took up to 10.02ms
";
    assert_eq!(output("overload"), expected);
}

/// Who holds the thread is told by the place where its task was spawned.
#[test]
fn who_waited() {
    let folder = std::env::temp_dir().join(format!("who_waited-{}", std::process::id()));
    let trace = folder.join("trace.json");
    let output = output_with("who_waited", &["--out", trace.to_str().unwrap()]);
    assert!(output.starts_with("stopped by a long wait: true\n"), "{output}");
    let held = output.lines().find(|line| line.starts_with("held the thread for")).unwrap_or_default();
    assert!(held.contains("of reports, spawned at ") && held.contains("who_waited.rs:"), "{output}");
    assert!(
        output.lines().any(|line| line.starts_with("waited for ") && line.contains("of requests")),
        "{output}"
    );
    let written = std::fs::read_to_string(&trace).unwrap();
    let page = std::fs::read_to_string(trace.with_extension("html")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("who_waited.rs:"));
    assert!(written.starts_with("{\"displayTimeUnit\"") && written.ends_with("]}\n"));
}

/// Both policies are replayed for each, and the requests can be read again. (Their times are of a debug build: nothing is said of them.)
#[test]
fn replay() {
    let folder = std::env::temp_dir().join(format!("replay-{}", std::process::id()));
    let trace = folder.join("trace.csv");
    let output =
        output_with("replay", &["--requests", "100", "--load", "0.5", "--out", trace.to_str().unwrap()]);
    let rows: Vec<Vec<&str>> = output.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    let pairs = [["fifo", "fifo"], ["fifo", "qlas"], ["qlas", "fifo"], ["qlas", "qlas"]];
    assert_eq!(rows[1..5], pairs.map(|[ran, replayed]| ["0.5", ran, replayed].to_vec()), "{output}");
    let written = std::fs::read_to_string(&trace).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let jobs = written.lines().filter(|line| line.contains(",default,")).count();
    assert_eq!(jobs, 100, "{written}");
}

/// A line is a slice of a queue or a slow poll, with its beginning and its end.
#[cfg(target_os = "linux")]
#[test]
fn samply_markers() {
    let folder = std::env::temp_dir().join(format!("samply_markers-{}", std::process::id()));
    let output = output_with("samply_markers", &["--work", "24", "--out", folder.to_str().unwrap()]);
    let markers = output.trim_end().strip_prefix("markers: ").unwrap();
    let lines = std::fs::read_to_string(markers).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    for line in lines.lines() {
        let [from, to, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(from.parse::<u64>().unwrap() <= to.parse().unwrap(), "{line}");
        assert!(["q:requests", "q:reports"].contains(&name) || name.starts_with("slow poll in "), "{line}");
    }
    assert!(lines.contains("slow poll in reports, spawned at "), "{lines}");
}

/// What is left of the service is a file that has both queues and the series.
#[test]
fn recorder() {
    let folder = std::env::temp_dir().join(format!("recorder-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("service.cwr");
    let printed = output_with("recorder", &["--seconds", "1", "--out", file.to_str().unwrap()]);
    assert_eq!(printed, format!("recording into {}\n", file.display()));
    let recording = Recording::read(&file).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let [period] = &recording.periods[..] else { panic!("{recording:?}") };
    let busy: Vec<&str> =
        period.queues.iter().filter(|queue| queue.polls > 0).map(|queue| &*queue.name).collect();
    assert_eq!(busy, ["requests", "reports"]);
    assert!(period.series[0].name == "response µs" && period.series[0].values.count > 0, "{recording:?}");
}

#[test]
fn own_scheduler() {
    let expected = "short  is done at 1.15ms\nmedium is done at 1.55ms\nlong   is done at 5.55ms\n";
    assert_eq!(output("own_scheduler"), expected);
}

#[test]
fn spawn_from_threads() {
    assert_eq!(output("spawn_from_threads"), "sum: 55\nsum: 210\nsum: 465\nlate: refused\n");
}

#[test]
fn long_computation() {
    let output = output("long_computation");
    assert!(output.starts_with("17984 primes below 200000\ncomputed in "), "{output}");
    assert!(!output.contains("computed in 1 polls"), "it has never yielded: {output}");
}

#[test]
fn stalls() {
    let output = output("stalls");
    assert!(output.starts_with("a poll has taken "), "{output}");
    assert!(output.contains("\n  queue 'reports', group 7, task "), "{output}");
    assert!(output.contains(", spawned at examples/stalls.rs:"), "{output}");
    assert!(output.contains(", thread 'main'\n"), "{output}");
    assert!(
        cfg!(not(target_os = "linux")) || output.contains("\n  its stack: perf record -g -t "),
        "{output}"
    );
    assert!(output.contains("\nseen: "), "{output}");
}

/// The task is told by the place where it was spawned, and for how long it runs is at least the limit.
#[test]
fn liveness() {
    let output = output("liveness");
    assert!(output.starts_with("for "), "{output}");
    assert!(output.contains(": a poll of queue 'reports', task "), "{output}");
    assert!(output.contains(", spawned at examples/liveness.rs:"), "{output}");
}

/// Each program is in the index, and has a test.
#[test]
fn the_index_is_complete() {
    let index = include_str!("../README.md");
    let tests = [
        include_str!("run_all.rs"),
        include_str!("web.rs"),
        include_str!("per_core.rs"),
        include_str!("http_service.rs"),
        include_str!("shutdown.rs"),
    ];
    let tests = tests.concat();
    for file in include_str!("../Cargo.toml").lines().filter_map(|line| line.strip_prefix("path = ")) {
        let file = file.trim_matches('"');
        let name = file.trim_end_matches("/main.rs").trim_end_matches(".rs");
        assert!(index.contains(&format!("[{file}]({file})")), "README.md does not list {name}");
        assert!(index.contains(&format!("--example {name}")), "README.md does not say how to run {name}");
        assert!(tests.contains(&format!("\"{name}\"")), "nothing runs {name}");
    }
}
