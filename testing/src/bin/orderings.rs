//! Promise 2, "a wake happens before the poll that it causes", and with it all that rests on memory orderings: each
//! ordering in the executor's source is weakened, one at a time, and one of its models must fail.
//!
//! `cargo run -p clockworker-testing --features orderings --bin orderings` weakens all, `orderings TEXT` those with the text in
//! their names, as `inbox.rs` or `park`. The models are loom's, in `clockworker/src/models`. What is weakened is what they
//! hand to loom, so they are built once.

#![allow(clippy::print_stdout, reason = "it is a program for a terminal")]

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clockworker_testing::trial::{self, Ended, workspace};
use proc_macro2::{Delimiter, Ident, LexError, TokenStream, TokenTree};

/// The folder whose orderings are weakened, and what in it is none of the executor's.
const SOURCE: &str = "clockworker/src";
const NOT_SOURCE: [&str; 2] = ["sync", "models"];

/// Models that take longer with one ordering weakened have not caught it.
const PATIENCE: Duration = Duration::from_secs(600);

fn main() -> anyhow::Result<()> {
    let part = std::env::args().nth(1).unwrap_or_default();
    let mut chosen = Vec::new();
    find(&workspace().join(SOURCE), Path::new(""), &mut chosen)?;
    chosen.retain(|found| found.name.contains(&part));
    ensure!(!chosen.is_empty(), "no ordering of '{part}' in {SOURCE}");
    let models = Models { program: build()? };
    println!("{} loom executions explored", models.run_unchanged()?);
    let missed = models.missed(&chosen);
    println!("{} of {} weakened orderings caught", chosen.len() - missed.len(), chosen.len());
    ensure!(missed.is_empty(), "not caught:\n  {}", missed.join("\n  "));
    Ok(())
}

/// All weakenings in a folder, and in those below it. `name` is the folder's, below the source.
fn find(folder: &Path, name: &Path, found: &mut Vec<Weakening>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        if NOT_SOURCE.iter().any(|other| name.starts_with(other)) {
            continue;
        }
        if path.is_dir() {
            find(&path, &name, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let in_file = weakenings(&name.to_string_lossy(), &fs::read_to_string(&path)?);
            found.extend(in_file.map_err(|error| anyhow!("'{}': {error}", path.display()))?);
        }
    }
    Ok(())
}

/// Builds the models beside the other builds, in `target/loom`, and gives their test program.
fn build() -> anyhow::Result<PathBuf> {
    let cargo =
        "test -p clockworker --lib --features tokio,stalls --profile hardened --target-dir target/loom";
    let mut build = Command::new(env!("CARGO"));
    build.args(cargo.split_whitespace()).current_dir(workspace()).stderr(Stdio::inherit());
    build.env("RUSTFLAGS", "--cfg clockworker_loom").env_remove("CARGO_ENCODED_RUSTFLAGS");
    trial::build(&mut build)?.pop().context("cargo named no test program")
}

struct Models {
    program: PathBuf,
}

impl Models {
    /// Runs them as they are; all must pass. Gives the number of executions explored.
    fn run_unchanged(&self) -> anyhow::Result<u64> {
        let (ended, said) = self.run(None)?;
        ensure!(ended == Ended::Passed, "{ended:?}, the models as they are:\n{said}");
        Ok(said.lines().filter_map(executions).sum())
    }

    /// Weakens one after the other, on as many threads as there are processors. Those that were not caught, each with why.
    fn missed(&self, chosen: &[Weakening]) -> Vec<String> {
        let (left, missed) = (Mutex::new(chosen.iter()), Mutex::new(Vec::new()));
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(Weakening { name, site }) = next() {
                let why = self.miss(site).map(|why| format!("{name} ({site}): {why}"));
                missed.lock().unwrap_or_else(PoisonError::into_inner).extend(why);
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        missed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs them with an ordering weakened. None if one fails, or else why not.
    fn miss(&self, site: &str) -> Option<String> {
        let why = match self.run(Some(site)) {
            Err(error) => return Some(format!("{error:#}")),
            Ok((Ended::Hung, _)) => "the models took too long",
            // Behind what the harness has printed of the test.
            Ok((_, said)) if !said.contains("weakened ") => "no model comes to it",
            Ok((Ended::Passed, _)) => "no model failed",
            Ok((Ended::Failed, _)) => return None,
        };
        Some(why.to_owned())
    }

    fn run(&self, weakened: Option<&str>) -> anyhow::Result<(Ended, String)> {
        let mut command = trial::program(&self.program, PATIENCE);
        command.args(["models::", "--test-threads", "1"]).env_remove("CLOCKWORKER_WEAKEN");
        trial::run(command.envs(weakened.map(|site| ("CLOCKWORKER_WEAKEN", site))))
    }
}

/// The number in a line as "model wakes/twice: 1852 executions".
fn executions(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("model ")?.1.split_once(": ")?;
    rest.strip_suffix(" executions")?.parse().ok()
}

#[derive(Clone, Debug)]
struct Weakening {
    /// File, function, operation and orderings.
    name: String,
    /// The place of the operation, which of its orderings it is, and what it becomes, as the models are told:
    /// `src/file:line:column:argument=ordering`.
    site: String,
}

const ORDERINGS: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];

/// All weakenings of a file. Its tests, at its end, are left out.
fn weakenings(file: &str, text: &str) -> Result<Vec<Weakening>, LexError> {
    let mut search = Search { file, ..Search::default() };
    search.look_into(text.parse()?, None);
    Ok(search.found)
}

/// The orderings that are weaker than `from`, as far as the operation may have them.
fn weaker(from: &str, operation: &str) -> &'static [&'static str] {
    match (from, operation) {
        ("SeqCst", "load") => &["Acquire", "Relaxed"],
        ("SeqCst", "store") => &["Release", "Relaxed"],
        ("SeqCst", _) => &["AcqRel", "Acquire", "Release", "Relaxed"],
        ("AcqRel", _) => &["Acquire", "Release", "Relaxed"],
        _ => &["Relaxed"],
    }
}

#[derive(Default)]
struct Search<'a> {
    file: &'a str,
    /// The last function that began.
    function: String,
    found: Vec<Weakening>,
    /// The file's tests begin.
    is_over: bool,
}

impl Search<'_> {
    /// `call` is the name of the function that these tokens are arguments of.
    fn look_into(&mut self, tokens: TokenStream, call: Option<&Ident>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let ident = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        };
        let mut argument = 0;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "fn" => {
                    self.function = ident(at + 1).map(Ident::to_string).unwrap_or_default();
                }
                TokenTree::Ident(word) if word == "mod" => {
                    self.is_over |= ident(at + 1).is_some_and(|name| name == "tests");
                }
                // Behind the word there are two colons.
                TokenTree::Ident(word) if word == "Ordering" => {
                    if let (Some(call), Some(ordering)) = (call, ident(at + 3)) {
                        self.weaken(call, argument, &ordering.to_string());
                    }
                    argument += 1;
                }
                TokenTree::Group(group) if !self.is_over => {
                    let is_call = group.delimiter() == Delimiter::Parenthesis;
                    self.look_into(group.stream(), at.checked_sub(1).and_then(ident).filter(|_| is_call));
                }
                _ => {}
            }
        }
    }

    /// `argument` is 0, or 1 for the ordering of a failed exchange.
    fn weaken(&mut self, call: &Ident, argument: usize, from: &str) {
        if !ORDERINGS.contains(&from) {
            return;
        }
        let Search { file, function, .. } = self;
        let place = call.span().start();
        let failure = if argument == 0 { "" } else { " on failure" };
        for to in weaker(from, &call.to_string()) {
            let name = format!("{file} {function} {call}{failure} {from} -> {to}");
            let site = format!("src/{file}:{}:{}:{argument}={to}", place.line, place.column + 1);
            self.found.push(Weakening { name, site });
        }
    }
}
