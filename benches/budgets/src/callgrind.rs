//! Counts an operation's instructions and allocations, by having callgrind run this program.
//!
//! Callgrind writes a file per call of the counted region. Only instructions of this program's own code are taken from
//! it: the C library's `malloc` and `memcpy` differ between systems and, by what the processor offers, between machines.
//! Allocations are counted as calls instead.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::operations::{COUNTED_OPERATIONS, Operation, SIZES};
use crate::region::COUNTED;
use clockworker_terminal::failure::Failure;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    /// Instructions of this program, per operation.
    pub(crate) instructions: f64,
    /// Calls of the C library's allocating functions, per operation.
    pub(crate) allocations: f64,
    /// The functions in which the instructions were executed, most first.
    pub(crate) functions: Vec<(String, f64)>,
}

/// Counts an operation, made slower by so many turns of an empty loop per 1,000 operations.
pub(crate) fn count(operation: Operation, slowdown: u64) -> Result<Count, Failure> {
    if cfg!(debug_assertions) {
        let text = "a debug build says nothing about what the code costs: use `cargo run --release`";
        return Err(Failure::request(text.to_owned()));
    }
    let program = env::current_exe().map_err(Failure::unable("cannot find this program"))?;
    let directory = tempfile::tempdir().map_err(Failure::unable("cannot make a temporary directory"))?;
    let file = directory.path().join("callgrind.out");
    run(&program, &file, operation, slowdown)?;
    let parts = (1..=SIZES.len()).map(|part| read(&file, part, &program));
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    Ok(difference(&parts[1], &parts[2]))
}

fn run(program: &Path, file: &Path, operation: Operation, slowdown: u64) -> Result<(), Failure> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no", "--dump-line=no"])
        .args([format!("--zero-before={COUNTED}"), format!("--dump-after={COUNTED}")])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["run", operation.key, "--slowdown", &slowdown.to_string()])
        .output();
    let output = output.map_err(Failure::unable(
        "cannot run valgrind, which counts the instructions; install it, with `apt-get install valgrind` or as your \
         system does",
    ))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let ended = format!("valgrind: {}, at '{}': {}", output.status, operation.key, said.trim());
    Err(Failure::request(ended))
}

/// Reads what one of the counted calls took.
fn read(file: &Path, part: usize, program: &Path) -> Result<Part, Failure> {
    let path = format!("{}.{part}", file.display());
    let text = fs::read_to_string(path).map_err(Failure::unable(format!(
        "valgrind: no file {part} of {}; was the counted function inlined, and so not seen?",
        SIZES.len()
    )))?;
    let parsed = Part::parse(&text, program);
    parsed.map_err(|problem| Failure::request(format!("valgrind: file {part}: {problem}")))
}

/// What one call of the region took.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Instructions in each of this program's functions, without those they call.
    functions: BTreeMap<String, u64>,
    /// Calls from there to the C library's allocating functions.
    allocations: u64,
}

const ALLOCATING: [&str; 5] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];

impl Part {
    /// Reads what callgrind writes without compression of names and positions and without line numbers.
    fn parse(text: &str, program: &Path) -> Result<Part, String> {
        let mut part = Part::default();
        let (mut is_own, mut function) = (false, "");
        // The number of calls, where the next line is what they cost, all callees included.
        let mut called = None;
        let mut callee = "";
        for (number, line) in text.lines().enumerate() {
            let unexpected = || format!("line {} is not understood: '{line}'", number + 1);
            if let Some(object) = line.strip_prefix("ob=") {
                is_own = Path::new(object) == program;
            } else if let Some(name) = line.strip_prefix("fn=") {
                function = name;
            } else if let Some(name) = line.strip_prefix("cfn=") {
                callee = name;
            } else if let Some(calls) = line.strip_prefix("calls=") {
                let calls = calls.split(' ').next().unwrap_or_default();
                called = Some(calls.parse::<u64>().map_err(|_| unexpected())?);
            } else if let Some(events) = line.strip_prefix("events: ") {
                if events.trim() != "Ir" {
                    return Err(format!("it counts '{}' and not instructions alone", events.trim()));
                }
            } else if line.starts_with(|c: char| c.is_ascii_digit()) {
                let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok());
                let cost: u64 = cost.ok_or_else(unexpected)?;
                match called.take() {
                    Some(calls) if is_own && ALLOCATING.contains(&callee) => part.allocations += calls,
                    None if is_own => *part.functions.entry(function.to_owned()).or_default() += cost,
                    _ => {}
                }
            }
        }
        if part.functions.is_empty() {
            return Err("no instruction in it is of this program".to_owned());
        }
        Ok(part)
    }
}

/// What the operations cost that `more` has done and `less` has not.
fn difference(less: &Part, more: &Part) -> Count {
    let each = |less: u64, more: u64| (more as f64 - less as f64) / COUNTED_OPERATIONS as f64;
    let functions = more.functions.iter().map(|(name, &instructions)| {
        (name.clone(), each(less.functions.get(name).copied().unwrap_or(0), instructions))
    });
    let mut functions: Vec<(String, f64)> =
        functions.filter(|&(_, instructions)| instructions != 0.0).collect();
    functions.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let sum = |part: &Part| part.functions.values().sum();
    Count {
        instructions: each(sum(less), sum(more)),
        allocations: each(less.allocations, more.allocations),
        functions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = include_str!("../tests/recorded.callgrind");

    #[test]
    fn a_recorded_file_is_read() {
        let part = Part::parse(RECORDED, Path::new("/own/budgets")).unwrap();
        let functions: Vec<(&str, u64)> =
            part.functions.iter().map(|(name, &cost)| (&**name, cost)).collect();
        assert_eq!(functions, [("counted_region", 17), ("spawn", 1_230)]);
        assert_eq!(part.allocations, 10);
    }

    #[test]
    fn a_file_that_is_not_understood_is_refused() {
        let own = Path::new("/own/budgets");
        for (text, problem) in [
            ("", "no instruction in it is of this program"),
            ("events: Ir Dr\n", "it counts 'Ir Dr' and not instructions alone"),
            ("ob=/own/budgets\nfn=f\n0 many\n", "line 3 is not understood: '0 many'"),
            ("ob=/own/budgets\nfn=f\ncalls=x 0\n", "line 3 is not understood: 'calls=x 0'"),
            (&RECORDED.replace("/own/", "/other/"), "no instruction in it is of this program"),
        ] {
            assert_eq!(Part::parse(text, own).unwrap_err(), problem);
        }
    }

    #[test]
    fn what_happens_once_is_no_part_of_an_operation() {
        let part = |spawn, once, allocations| Part {
            functions: BTreeMap::from([("spawn".to_owned(), spawn), ("once".to_owned(), once)]),
            allocations,
        };
        let count = difference(&part(1_000_000, 77, 10_003), &part(2_500_000, 77, 20_003));
        assert_eq!(count.instructions, 150.0);
        assert_eq!(count.allocations, 1.0);
        assert_eq!(count.functions, [("spawn".to_owned(), 150.0)]);
    }
}
