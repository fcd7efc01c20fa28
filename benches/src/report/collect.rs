//! Where the files of results come from: named ones, those of earlier runs, or runs of now.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Options;
use super::document::{self, Document};
use super::read::{READERS, Reader};
use crate::failure::Failure;
use crate::harness::target;

pub fn documents(options: &Options) -> Result<Vec<Document>, Failure> {
    let files = match (options.run, options.from.as_slice()) {
        (true, _) => run(options)?,
        (_, []) => earlier()?,
        (_, named) => files_of(named)?,
    };
    if files.is_empty() {
        return Err(Failure::request(
            "no files of results there: --run makes them, --from names others (see --help)",
        ));
    }
    files.iter().map(|file| Document::load(file)).collect()
}

fn files_of(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let files = named.iter().map(|path| match path.is_dir() {
        true => document::files_in(path),
        false => Ok(vec![path.clone()]),
    });
    Ok(files.collect::<Result<Vec<_>, _>>()?.concat())
}

fn earlier() -> Result<Vec<PathBuf>, Failure> {
    let folder = target::folder("report");
    let mut files = if folder.is_dir() { document::files_in(&folder)? } else { Vec::new() };
    let has_overhead = files.contains(&folder.join("overhead.json"));
    files.extend(newest_overhead().filter(|_| !has_overhead));
    Ok(files)
}

/// `overhead` leaves a folder for each run, named by its time.
fn newest_overhead() -> Option<PathBuf> {
    let runs = fs::read_dir(target::folder("overhead")).ok()?;
    let results = runs.filter_map(|run| Some(run.ok()?.path().join("result.json")));
    results.filter(|result| result.is_file()).max()
}

/// Runs every scenario, each in a process of its own as by hand.
fn run(options: &Options) -> Result<Vec<PathBuf>, Failure> {
    let folder = target::folder("report");
    fs::create_dir_all(&folder).map_err(|error| Failure::unwritable(&folder, error.kind()))?;
    READERS.iter().map(|reader| run_one(reader, options, &folder)).collect()
}

fn run_one(reader: &Reader, options: &Options, folder: &Path) -> Result<PathBuf, Failure> {
    let kind = reader.schema.strip_prefix("clockworker-").unwrap_or(reader.schema);
    let file = folder.join(format!("{kind}.json"));
    let name = reader.arguments.join(" ");
    let failed = |reason: String| Failure::run(format!("'{name}' failed: {reason}"));
    let program = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(reader.arguments).arg("--seed").arg(options.seed.to_string());
    command.args(reader.quick.iter().filter(|_| options.quick)).arg("--json").arg(&file);
    // Its tables are in the report; its progress is shown.
    let status = command.stdout(Stdio::null()).status().map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(file) } else { Err(failed(status.to_string())) }
}
