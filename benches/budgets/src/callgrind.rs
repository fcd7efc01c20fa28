//! Counts an operation's instructions and allocations, by having callgrind run this program.
//!
//! Callgrind writes a file per call of the counted region. Only instructions of this program's own code are taken from
//! it: the C library's `malloc` and `memcpy` differ between systems and, by what the processor offers, between machines.
//! Allocations are counted as calls instead.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use crate::operations::{COUNTED_OPERATIONS, Operation, SIZES};
use crate::region::COUNTED;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count {
    /// Instructions of this program, per operation.
    pub(crate) instructions: f64,
    /// Calls of the C library's allocating functions, per operation.
    pub(crate) allocations: f64,
}

/// Counts an operation, made slower by so many turns of an empty loop per 1,000 operations.
pub(crate) fn count(operation: Operation, slowdown: u64) -> Result<Count> {
    let says_nothing = cfg!(debug_assertions);
    ensure!(!says_nothing, "a debug build says nothing about what the code costs: use `cargo run --release`");
    let program = env::current_exe().context("cannot find this program")?;
    let directory = tempfile::tempdir().context("cannot make a temporary directory")?;
    let file = directory.path().join("callgrind.out");
    run(&program, &file, operation, slowdown)?;
    let parts = (1..=SIZES.len()).map(|part| read(&file, part, &program));
    let parts: Vec<Part> = parts.collect::<Result<_>>()?;
    Ok(difference(parts[1], parts[2]))
}

fn run(program: &Path, file: &Path, operation: Operation, slowdown: u64) -> Result<()> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no", "--dump-line=no"])
        .args([format!("--zero-before={COUNTED}"), format!("--dump-after={COUNTED}")])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["run", operation.key, "--slowdown", &slowdown.to_string()])
        .output()
        .context("cannot run valgrind, which counts the instructions; install it, as with `apt-get install valgrind`")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("valgrind: {}, at '{}': {}", output.status, operation.key, said.trim());
    }
    Ok(())
}

/// Reads what one of the counted calls took.
fn read(file: &Path, part: usize, program: &Path) -> Result<Part> {
    let text = fs::read_to_string(format!("{}.{part}", file.display())).with_context(|| {
        format!("valgrind: no file {part}; was the counted function inlined, and so not seen?")
    })?;
    Part::parse(&text, program).with_context(|| format!("valgrind: file {part}"))
}

/// What one call of the region took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    /// Instructions in this program's functions, without those that they call.
    instructions: u64,
    /// Calls from there to the C library's allocating functions.
    allocations: u64,
}

const ALLOCATING: [&str; 5] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];

impl Part {
    /// Reads what callgrind writes without compression of names and positions and without line numbers.
    fn parse(text: &str, program: &Path) -> Result<Part> {
        let mut part = Part::default();
        let mut is_own = false;
        // The number of calls, where the next line is what they cost, all callees included.
        let mut called = None;
        let mut callee = "";
        for (number, line) in text.lines().enumerate() {
            let unexpected = || format!("line {} is not understood: '{line}'", number + 1);
            if let Some(object) = line.strip_prefix("ob=") {
                is_own = Path::new(object) == program;
            } else if let Some(name) = line.strip_prefix("cfn=") {
                callee = name;
            } else if let Some(calls) = line.strip_prefix("calls=") {
                let calls = calls.split(' ').next().unwrap_or_default();
                called = Some(calls.parse::<u64>().with_context(unexpected)?);
            } else if let Some(events) = line.strip_prefix("events: ") {
                ensure!(events.trim() == "Ir", "it counts '{}' and not instructions alone", events.trim());
            } else if line.starts_with(|c: char| c.is_ascii_digit()) {
                let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok());
                let cost: u64 = cost.with_context(unexpected)?;
                match called.take() {
                    Some(calls) if is_own && ALLOCATING.contains(&callee) => part.allocations += calls,
                    None if is_own => part.instructions += cost,
                    _ => {}
                }
            }
        }
        ensure!(part.instructions > 0, "no instruction in it is of this program");
        Ok(part)
    }
}

/// What the operations cost that `more` has done and `less` has not.
fn difference(less: Part, more: Part) -> Count {
    let each = |less: u64, more: u64| (more as f64 - less as f64) / COUNTED_OPERATIONS as f64;
    Count {
        instructions: each(less.instructions, more.instructions),
        allocations: each(less.allocations, more.allocations),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_file_is_read() {
        let recorded = include_str!("../tests/recorded.callgrind");
        let part = Part::parse(recorded, Path::new("/own/budgets")).unwrap();
        assert_eq!(part, Part { instructions: 17 + 1_230, allocations: 10 });
        let refused = Part::parse(recorded, Path::new("/other/budgets")).unwrap_err();
        assert_eq!(refused.to_string(), "no instruction in it is of this program");
    }

    #[test]
    fn what_happens_once_is_no_part_of_an_operation() {
        let part = |instructions, allocations| Part { instructions, allocations };
        let count = difference(part(1_000_077, 10_003), part(2_500_077, 20_003));
        assert_eq!(count, Count { instructions: 150.0, allocations: 1.0 });
    }
}
