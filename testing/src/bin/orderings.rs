//! Promise 2, "a wake happens before the poll that it causes", and with it all that rests on memory orderings: each
//! ordering in the executor's source is weakened, one at a time, and one of its models must fail.
//!
//! `cargo run -p clockworker-testing --features orderings --bin orderings` weakens all, `orderings TEXT` those with the text in
//! their names, as `inbox.rs` or `fence`. The models are loom's, in `clockworker/src/models` and `observe/src/models`. What is weakened is what they
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
use clockworker_testing::trial::{self, Ended, succeed, workspace};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// The packages whose orderings are weakened, their folders, and the features of their models.
const PACKAGES: [(&str, &str, &str); 2] =
    [("clockworker", "clockworker", "tokio"), ("clockworker-observe", "observe", "stalls")];

/// What in their sources no model comes to: atomics and models themselves, and the words of a recorder's file, which another process
/// reads, after a kill too.
const NOT_SOURCE: [&str; 3] = ["sync", "models", "recorder"];

/// Models that take longer with one ordering weakened have not caught it.
const PATIENCE: Duration = Duration::from_secs(600);

fn main() -> anyhow::Result<()> {
    let part = std::env::args().nth(1).unwrap_or_default();
    let all = PACKAGES.iter().map(|&(package, folder, features)| {
        let chosen = chosen(&workspace().join(folder).join("src"), &part)?;
        if !chosen.is_empty() {
            try_all(&chosen, package, features)?;
        }
        Ok(chosen.len())
    });
    let weakened: Vec<usize> = all.collect::<anyhow::Result<_>>()?;
    ensure!(weakened.iter().sum::<usize>() > 0, "no ordering of '{part}'");
    Ok(())
}

/// The weakenings in a source that have the text in their names.
fn chosen(source: &Path, part: &str) -> anyhow::Result<Vec<Weakening>> {
    let files = succeed(Command::new("git").args(["ls-files", "*.rs"]).current_dir(source))?;
    let mut chosen = Vec::new();
    for file in files.lines().filter(|file| !NOT_SOURCE.iter().any(|other| file.starts_with(other))) {
        let text = fs::read_to_string(source.join(file))?;
        let tokens = text.parse().map_err(|error| anyhow!("'{file}': {error}"))?;
        look_into(file, tokens, None, &mut chosen);
    }
    chosen.retain(|found| found.name.contains(part));
    Ok(chosen)
}

/// Weakens each, one at a time: a model of the package must fail.
fn try_all(chosen: &[Weakening], package: &str, features: &str) -> anyhow::Result<()> {
    let models = build(package, features)?;
    let (ended, said) = run(&models, None)?;
    ensure!(ended == Ended::Passed, "{ended:?}, the models as they are:\n{said}");
    println!("{} loom executions explored", said.lines().filter_map(executions).sum::<u64>());
    let missed = missed(&models, chosen);
    println!("{} of {} weakened orderings caught", chosen.len() - missed.len(), chosen.len());
    ensure!(missed.is_empty(), "not caught:\n  {}", missed.join("\n  "));
    Ok(())
}

/// Builds the models beside the other builds, in `target/loom`, and gives their test program.
fn build(package: &str, features: &str) -> anyhow::Result<PathBuf> {
    let cargo =
        format!("test -p {package} --lib --features {features} --profile hardened --target-dir target/loom");
    let mut build = Command::new(env!("CARGO"));
    build.args(cargo.split_whitespace()).current_dir(workspace()).stderr(Stdio::inherit());
    build.env("RUSTFLAGS", "--cfg clockworker_loom").env_remove("CARGO_ENCODED_RUSTFLAGS");
    trial::build(&mut build)?.pop().context("cargo named no test program")
}

/// Runs the models with one ordering after the other weakened, on as many threads as there are processors. Those that were not
/// caught, each with why.
fn missed(models: &Path, chosen: &[Weakening]) -> Vec<String> {
    let (left, missed) = (Mutex::new(chosen.iter()), Mutex::new(Vec::new()));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(Weakening { name, site }) = next() {
            let why = miss(models, site).map(|why| format!("{name} ({site}): {why}"));
            missed.lock().unwrap_or_else(PoisonError::into_inner).extend(why);
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    missed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs them with an ordering weakened. None if one fails, or else why not.
fn miss(models: &Path, site: &str) -> Option<String> {
    let why = match run(models, Some(site)) {
        Err(error) => return Some(format!("{error:#}")),
        Ok((Ended::Hung, _)) => "the models took too long",
        // Behind what the harness has printed of the test.
        Ok((_, said)) if !said.contains("weakened ") => "no model comes to it",
        Ok((Ended::Passed, _)) => "no model failed",
        Ok((Ended::Failed, _)) => return None,
    };
    Some(why.to_owned())
}

fn run(models: &Path, weakened: Option<&str>) -> anyhow::Result<(Ended, String)> {
    let mut command = trial::program(models, PATIENCE);
    command.args(["models::", "--test-threads", "1"]).env_remove("CLOCKWORKER_WEAKEN");
    trial::run(command.envs(weakened.map(|site| ("CLOCKWORKER_WEAKEN", site))))
}

/// The number in a line as "model wakes/twice: 1852 executions".
fn executions(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("model ")?.1.split_once(": ")?;
    rest.strip_suffix(" executions")?.parse().ok()
}

struct Weakening {
    /// File, operation and orderings.
    name: String,
    /// The place of the operation, which of its orderings it is, and what it becomes, as the models are told:
    /// `src/file:line:column:argument=ordering`.
    site: String,
}

/// The orderings that are weaker than `from`, as far as the operation may have them.
fn weaker(from: &str, operation: &str) -> &'static [&'static str] {
    match (from, operation) {
        ("SeqCst", "load") => &["Acquire", "Relaxed"],
        ("SeqCst", "store") => &["Release", "Relaxed"],
        ("SeqCst", _) => &["AcqRel", "Acquire", "Release", "Relaxed"],
        ("AcqRel", _) => &["Acquire", "Release", "Relaxed"],
        ("Acquire" | "Release", _) => &["Relaxed"],
        _ => &[],
    }
}

/// Finds all weakenings in these tokens, which are arguments of `call` if there is one. The tests at the end of a file are left
/// out.
fn look_into(file: &str, tokens: TokenStream, call: Option<&Ident>, found: &mut Vec<Weakening>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let ident = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(ident)) => Some(ident),
        _ => None,
    };
    let is = |at, word| ident(at).is_some_and(|ident| ident == word);
    // 0, or 1 for the ordering of a failed exchange.
    let mut argument = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(_) if is(at, "mod") && is(at + 1, "tests") => return,
            // Behind the word there are two colons.
            TokenTree::Ident(_) if is(at, "Ordering") => {
                if let (Some(call), Some(from)) = (call, ident(at + 3)) {
                    let from = from.to_string();
                    let weaker = weaker(&from, &call.to_string()).iter();
                    found.extend(weaker.map(|to| weaken(file, call, argument, &from, to)));
                }
                argument += 1;
            }
            TokenTree::Group(group) => {
                let is_call = group.delimiter() == Delimiter::Parenthesis;
                let call = at.checked_sub(1).and_then(ident).filter(|_| is_call);
                look_into(file, group.stream(), call, found);
            }
            _ => {}
        }
    }
}

fn weaken(file: &str, call: &Ident, argument: usize, from: &str, to: &str) -> Weakening {
    let place = call.span().start();
    let failure = if argument == 0 { "" } else { " on failure" };
    let site = format!("src/{file}:{}:{}:{argument}={to}", place.line, place.column + 1);
    Weakening { name: format!("{file} {call}{failure} {from} -> {to}"), site }
}
