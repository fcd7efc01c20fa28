//! The program from outside: each subcommand, briefly.

use std::process::{Command, Output};

fn run(line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_clockworker-profiling");
    Command::new(program).args(line.split(' ')).output().expect("the program starts")
}

fn printed(line: &str) -> String {
    let output = run(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the program prints UTF-8")
}

#[test]
fn every_executor_runs_the_workload() {
    for executor in ["local-set", "runnable-fifo", "arrival-fifo", "two-queues", "qlas", "las", "serpt"] {
        let line = printed(&format!("run --executor {executor} --tasks 100 --yields 3 --rounds 2"));
        let wanted = format!("{executor}, 100 × 3: 2 rounds, 800 polls, ");
        assert!(line.starts_with(&wanted) && line.ends_with(" ns per poll\n"), "{line}");
    }
}

#[test]
fn callgrind_is_told_what_to_run() {
    let text = printed("callgrind --executor qlas --tasks 1000 --yields 10");
    assert!(text.starts_with("valgrind --tool=callgrind "), "{text}");
    assert!(text.contains("run --executor qlas --tasks 1000 --yields 10 --rounds 1\n"), "{text}");
}

#[test]
fn nonsense_is_refused() {
    for line in [
        "run --tasks 0",
        "run --seconds=-1",
        "run --seconds=901",
        "run --seconds=NaN",
        "run --seconds=soon",
        "run --seconds 1 --rounds 1",
        "phases --executor local-set,smol",
        "flamegraph --frequency 0",
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{line}");
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod in_process {
    use super::{printed, run};
    use std::fs;

    use pprof::protos::{Message, Profile};
    use tempfile::TempDir;

    #[cfg(feature = "observe")]
    #[test]
    fn a_flame_graph_has_a_frame_for_each_queue_and_group() {
        let directory = TempDir::new().unwrap();
        let svg = directory.path().join("queues.svg");
        let text = printed(&format!("queues --seconds=8 --svg={}", svg.display()));
        let svg = fs::read_to_string(svg).unwrap();
        let parts = |name: &str| -> Vec<f64> {
            let row = text.lines().find(|line| line.starts_with(&format!("| {name} ")));
            let row = row.unwrap_or_else(|| panic!("{name}: {text}"));
            row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
        };
        for queue in ["requests", "reports", "batch"] {
            assert!(svg.contains(&format!("queue: {queue}")), "{queue}");
            let parts = parts(queue);
            // What polls take, and what the executor does around them: the same to within 5 % of all time.
            assert!((parts[1] - parts[2]).abs() < 5.0, "{text}");
        }
        for group in ["acme", "globex"] {
            assert!(svg.contains(&format!("group: {group}")), "{group}");
            let parts = parts(group);
            // To within 5 % of all time, of which their queue has three fifths.
            assert!(0.6 * (parts[0] - parts[1]).abs() < 5.0, "{text}");
        }
    }

    #[test]
    fn a_flame_graph_and_a_profile_are_written_where_asked() {
        let directory = TempDir::new().unwrap();
        // In a folder that is not there yet.
        let svg = directory.path().join("new/graph.svg");
        let proto = directory.path().join("profile.pb");
        let files = format!("--svg={} --proto={}", svg.display(), proto.display());
        let text = printed(&format!("flamegraph --tasks=1000 --yields=20 --seconds=1 {files}"));
        assert!(text.contains("ns per poll") && text.contains("samples: "), "{text}");

        let svg = fs::read_to_string(svg).unwrap();
        assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("self_waking"), "a debug build has a frame for the future");

        let profile = Profile::decode(&*fs::read(proto).unwrap()).unwrap();
        assert!(!profile.sample.is_empty());
        let names = &profile.string_table;
        assert!(names.iter().any(|name| name.contains("clockworker::run::slice::run")), "{names:?}");
        let functions = profile.function.len() as u64;
        let mut locations = profile.sample.iter().flat_map(|sample| &sample.location_id);
        assert!(locations.all(|location| (1..=functions).contains(location)));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_said_in_one_line_before_anything_runs() {
        let directory = TempDir::new().unwrap();
        let output = run(&format!("flamegraph --seconds=900 --svg={}", directory.path().display()));
        assert_eq!(output.status.code(), Some(2));
        let line = String::from_utf8(output.stderr).unwrap();
        assert!(line.starts_with("error: cannot write '") && line.lines().count() == 1, "{line}");
    }

    #[test]
    fn phases_sum_to_their_total() {
        let executors = "--executor=local-set,two-queues,qlas";
        let text = printed(&format!("phases {executors} --tasks=1000 --yields=20 --seconds=1 --functions=2"));
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("| "))
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        let (head, total, ratios) = (&rows[0], &rows[rows.len() - 2], &rows[rows.len() - 1]);
        assert_eq!(head[..], ["phase", "local-set", "two-queues", "qlas"], "{text}");
        assert_eq!((total[0], ratios[0], ratios[1]), ("total", "× local-set", "1.00"), "{text}");
        let phases = &rows[1..rows.len() - 2];
        for column in 1..head.len() {
            let sum =
                phases.iter().map(|row| numbers(row[column])).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            assert_eq!(sum, numbers(total[column]), "{text}");
            assert_eq!(sum.1, 1_000, "{text}");
        }
        assert!(text.contains("qlas, ns per poll by the function that decided"), "{text}");
    }

    /// "12.34 (56.7)" as hundredths and tenths.
    fn numbers(cell: &str) -> (u64, u64) {
        let (time, share) = cell.split_once('(').unwrap_or_else(|| panic!("{cell}"));
        let whole = |text: &str| text.trim_matches([' ', ')']).replace('.', "").parse().unwrap();
        (whole(time), whole(share))
    }
}
