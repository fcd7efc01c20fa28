//! Runs every example to its end and looks at what it prints, so that none rots.
//!
//! `cargo test -p clockworker-examples` builds the examples before it runs this. (With `--test run_all` it does not: build
//! them with `--examples` then.)

#![forbid(unsafe_code)]

mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

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
fn futures_host() {
    assert_host("futures_host", &["sent ping, got ping"], &["on futures are"]);
}

#[test]
fn no_host() {
    assert_host("no_host", &["sent ping, got ping"], &["of a thread are"]);
}

#[test]
fn monoio_host() {
    let (epoll, io_uring) = ("sent ping over epoll, got ping", "sent ping over io_uring, got ping");
    if cfg!(not(target_os = "linux")) {
        assert_eq!(output("monoio_host"), "clockworker's feature `monoio` is for Linux\n");
    } else if has_io_uring() {
        let timers = ["on monoio, epoll, are", "on monoio, io_uring, are"];
        assert_host("monoio_host", &[epoll, io_uring], &timers);
    } else {
        assert_host("monoio_host", &[epoll], &["on monoio, epoll, are"]);
    }
}

#[cfg(target_os = "linux")]
fn has_io_uring() -> bool {
    monoio::utils::detect_uring()
}

#[cfg(not(target_os = "linux"))]
fn has_io_uring() -> bool {
    false
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

#[test]
fn modest_tenant() {
    let expected = "\
finished at    modest tenant   greedy tenant
RunnableFifo          1.27ms         20.05ms
Las                    110µs         20.05ms
Qlas                   130µs         20.05ms
Serpt                  130µs         20.05ms
";
    assert_eq!(output("modest_tenant"), expected);
}

/// What each tenant has depends on the machine; that each is served under both executors does not.
#[test]
fn tenants() {
    for executor in ["clockworker", "localset"] {
        let output = output_with(
            "tenants",
            &["--executor", executor, "--requests", "3", "--flood", "4", "--quiet", "2"],
        );
        let [heads, tenants @ ..] = &output.lines().collect::<Vec<_>>()[..] else { panic!("{output}") };
        assert_eq!(heads.split_whitespace().next(), Some("tenant"), "{output}");
        let words = tenants.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let named: Vec<String> = words.clone().map(|words| words[..3].join(" ")).collect();
        assert_eq!(named, ["flood 1 4", "gold 3 8", "quiet-1 1 1", "quiet-2 1 1"], "{output}");
        // Each connection has had its three answers.
        let requests: Vec<&str> = words.map(|words| words[3]).collect();
        assert_eq!(requests, ["12", "24", "3", "3"], "{output}");
    }
}

#[test]
fn overload() {
    let expected = "\
takes everything served 30000, refused 0, left 15000; the latest waited for up to 1s
sheds load       served 30000, refused 14900, left 100; the latest waited for up to 10ms
";
    assert_eq!(output("overload"), expected);
}

#[test]
fn inversion() {
    let expected = "\
a request of a queue with 99 % awaits a report of 1 ms, behind 100 tasks of a queue with 1 %
report.await            answered after 111ms, of which its queue paid 0ns
report.lending().await  answered after 1.1ms, of which its queue paid 1ms
";
    assert_eq!(output("inversion"), expected);
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

/// What else is on the stack depends on the machine.
#[test]
fn stalls() {
    let output = output("stalls");
    assert!(output.starts_with("a poll has taken "), "{output}");
    assert!(output.contains("\n  queue 'reports', group 7, task "), "{output}");
    assert!(output.contains(", spawned at examples/stalls.rs:"), "{output}");
    assert!(output.contains(", thread 'main'\n"), "{output}");
    assert!(cfg!(not(target_os = "linux")) || output.contains(": stalls::sum_of_everything"), "{output}");
    assert!(output.contains("\nseen: "), "{output}");
}

#[test]
fn shutdown() {
    let output = output("shutdown");
    let lines: Vec<&str> = output.lines().collect();
    let [.., hangs, report, late] = lines[..] else { panic!("{output}") };
    assert_eq!(hangs, "one that hangs is closed");
    // On a machine that stops for a fifth of a second the slower ones are cancelled too.
    assert!(
        report.starts_with("deadline passed: ") && report.ends_with(" cancelled, 0 panicked"),
        "{report}"
    );
    assert_eq!(output.matches(" is closed\n").count(), 3, "{output}");
    assert_eq!(late, "late: refused");
}

/// Each program is in the index, and has a test: here, or in a file of its own if it has a folder of its own.
#[test]
fn the_index_is_complete() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut programs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if let Some(file) = main_of_own_workspace(&path) {
            assert!(index.contains(&format!("({file})")), "README.md does not list {name}");
            assert!(path.join("tests").exists(), "nothing runs {name}");
            programs += 1;
        }
        let Some(file) = main_file(&path) else { continue };
        assert!(index.contains(&format!("[{file}]({file})")), "README.md does not list {name}");
        assert!(index.contains(&format!("--example {name}")), "README.md does not say how to run {name}");
        assert!(is_tested(&folder, name), "nothing runs {name}");
        programs += 1;
    }
    assert_eq!(programs, index.lines().filter(|line| line.starts_with("| [")).count());
}

/// The file of a program's `main`, if that path is a package that is built by itself, with tests of its own.
fn main_of_own_workspace(path: &Path) -> Option<String> {
    let name = path.file_name().unwrap().to_str().unwrap();
    path.join("Cargo.lock").exists().then(|| format!("{name}/src/main.rs"))
}

/// The file of a program's `main`, if that path is a program's.
fn main_file(path: &Path) -> Option<String> {
    let name = path.file_name().unwrap().to_str().unwrap();
    if path.join("main.rs").exists() {
        return Some(format!("{name}/main.rs"));
    }
    path.extension().is_some_and(|extension| extension == "rs").then(|| name.to_owned())
}

/// Whether a test starts it.
fn is_tested(folder: &Path, name: &str) -> bool {
    let started = format!("\"{name}\"");
    let tests = std::fs::read_dir(folder.join("tests")).unwrap().map(|entry| entry.unwrap().path());
    let sources = tests.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap());
    sources.into_iter().any(|source| source.contains(&started))
}
