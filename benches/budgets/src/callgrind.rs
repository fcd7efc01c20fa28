//! Counts an operation's instructions and allocations, by having callgrind run this program.
//!
//! Callgrind writes a file per call of the counted region. Only instructions of this program's own code are taken from
//! it: the C library's `malloc` and `memcpy` differ between systems and, by what the processor offers, between machines.
//! Allocations are counted as calls instead.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fmt, fs};

use crate::failure::Failure;
use crate::operations::{COUNTED_OPERATIONS, Operation, SIZES};
use crate::region::COUNTED;

/// What an operation takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// Instructions of this program, per operation.
    pub instructions: f64,
    /// Calls of the C library's allocating functions, per operation.
    pub allocations: f64,
    /// The functions in which the instructions were executed, most first.
    pub functions: Vec<(String, f64)>,
}

/// Fails unless valgrind can be run.
///
/// # Errors
///
/// If it is not installed.
pub fn require() -> Result<(), Failure> {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    version.map(drop).map_err(Failure::NoValgrind)
}

/// Counts an operation, made slower by so many turns of an empty loop per 1,000 operations.
///
/// # Errors
///
/// If valgrind or the program inside it fails, or writes something else than it should.
pub fn count(operation: Operation, slowdown: u64) -> Result<Count, Failure> {
    let program = env::current_exe().map_err(Failure::io("cannot find this program"))?;
    let directory = tempfile::tempdir().map_err(Failure::io("cannot make a temporary directory"))?;
    let file = directory.path().join("callgrind.out");
    run(&program, &file, operation, slowdown)?;
    let parts = (1..=SIZES.len()).map(|part| read(&file, part, &program));
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    Ok(difference(&parts[1], &parts[2]))
}

fn run(program: &Path, file: &Path, operation: Operation, slowdown: u64) -> Result<(), Failure> {
    let option = |name: &str, value: &dyn AsRef<std::ffi::OsStr>| {
        let mut option = OsString::from(name);
        option.push(value);
        option
    };
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no", "--dump-line=no"])
        .args([option("--zero-before=", &COUNTED), option("--dump-after=", &COUNTED)])
        .arg(option("--callgrind-out-file=", &file))
        .arg(program)
        .args(["run", operation.key, "--slowdown", &slowdown.to_string()])
        .output()
        .map_err(Failure::NoValgrind)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Valgrind(format!("{}, at '{}': {}", output.status, operation.key, said.trim())))
}

fn read(file: &Path, part: usize, program: &Path) -> Result<Part, Failure> {
    let mut name = OsString::from(file);
    name.push(format!(".{part}"));
    let text = fs::read_to_string(PathBuf::from(name)).map_err(|error| {
        let counted = SIZES.len();
        let missing = "the counted function was not seen so often; was it inlined?";
        Failure::Valgrind(match error.kind() {
            io::ErrorKind::NotFound => format!("file {part} of {counted} is missing: {missing}"),
            _ => format!("file {part} of {counted}: {error}"),
        })
    })?;
    Part::parse(&text, program).map_err(|error| Failure::Valgrind(format!("file {part}: {error}")))
}

/// What one call of the region took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Part {
    /// Instructions in each of this program's functions, without those they call.
    functions: BTreeMap<String, u64>,
    /// Calls from there to the C library's allocating functions.
    allocations: u64,
}

/// Why a file of callgrind's is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ParseError {
    /// It counts other events, or more.
    Events(String),
    /// Such a line was not expected.
    Line(usize, String),
    /// Nothing of this program is in it.
    Empty,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Events(events) => write!(f, "it counts '{events}' and not instructions alone"),
            ParseError::Line(number, line) => write!(f, "line {number} is not understood: '{line}'"),
            ParseError::Empty => f.write_str("no instruction in it is of this program"),
        }
    }
}

const ALLOCATING: [&str; 5] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];

impl Part {
    /// Reads what callgrind writes without compression of names and positions and without line numbers.
    fn parse(text: &str, program: &Path) -> Result<Part, ParseError> {
        let mut part = Part::default();
        let (mut is_own, mut function) = (false, "");
        // The number of calls, where the next line is what they cost, all callees included.
        let mut called = None;
        let mut callee = "";
        for (number, line) in text.lines().enumerate() {
            let unexpected = || ParseError::Line(number + 1, line.to_owned());
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
                    return Err(ParseError::Events(events.trim().to_owned()));
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
        if part.functions.is_empty() { Err(ParseError::Empty) } else { Ok(part) }
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
        let parse = |text: &str| Part::parse(text, own).unwrap_err().to_string();
        assert_eq!(parse(""), "no instruction in it is of this program");
        assert_eq!(parse("events: Ir Dr\n"), "it counts 'Ir Dr' and not instructions alone");
        assert_eq!(
            parse("events: Ir\nob=/own/budgets\nfn=f\n0 many\n"),
            "line 4 is not understood: '0 many'"
        );
        assert_eq!(parse("ob=/own/budgets\nfn=f\ncalls=x 0\n"), "line 3 is not understood: 'calls=x 0'");
        assert_eq!(Part::parse(RECORDED, Path::new("/other")), Err(ParseError::Empty));
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
