//! `actions --once`: the queue as a plain program, in a database that stays.

use std::path::Path;

use super::changes::Changes;
use super::options::{Executor, Options};
use super::queues::queues;
use super::run::Run;
use super::schema::{self, Held, Setup};
use super::store::Moments;
use super::trouble::Trouble;
use crate::failure::Failure;
use crate::harness::command::progress;
use crate::measurements::arm::Arm;
use crate::numbers::grouped;
use crate::terminal;

pub(super) fn command(options: &Options) -> Result<(), Failure> {
    let plain = &options.plain;
    let path = plain.database.as_deref().ok_or_else(|| Failure::request("--once wants --database"))?;
    let setup = if plain.resume { resumed(path)? } else { created(path, options)? };
    let arm = match plain.executor {
        Executor::Clockworker => Arm::Queues,
        Executor::LocalSet => Arm::LocalSet,
    };
    let moments = Moments { kill_at: plain.kill_at, interrupt_at: plain.interrupt_at, passed: 0 };
    let run = Run {
        database: path,
        setup: &setup,
        workers: options.workers.into(),
        pinning: None,
        progress: progress("actions", setup.all()),
        moments,
        most_pages: plain.most_pages,
    };
    let found = arm.run(|| queues(options.shares), &run);
    run.progress.finish_and_clear();
    let found = found.map_err(|trouble| trouble.of(path))?;
    terminal::print_text(&format!(
        "{} actions recorded in {:.2} s, {} in all; nothing left\n",
        grouped(found.completed),
        found.elapsed.as_secs_f64(),
        grouped(setup.all()),
    ))
}

/// The run that the database holds.
fn resumed(path: &Path) -> Result<Setup, Failure> {
    let refused = |reason: &str| Failure::request(format!("cannot resume '{}': {reason}", path.display()));
    if !path.is_file() {
        return Err(refused("there is no such file"));
    }
    let found = schema::open(path, None).and_then(|connection| schema::held(&connection));
    match found.map_err(|trouble| trouble.of_opening(path, refused))? {
        Held::Run(setup) => Ok(setup),
        Held::Nothing | Held::Other => Err(refused("it holds no run")),
    }
}

/// A run that has not begun, in a new file. What is left of one that was killed before it was written is no run.
fn created(path: &Path, options: &Options) -> Result<Setup, Failure> {
    let refused = |reason: &str| Failure::request(format!("cannot begin in '{}': {reason}", path.display()));
    let [instances] = options.instances()[..] else {
        return Err(Failure::request("--once wants one number of --instances"));
    };
    let setup = options.setup(instances, Changes::without(&options.without));
    let create = || {
        let mut connection = schema::open(path, options.plain.most_pages)?;
        let held = schema::held(&connection)?;
        if matches!(held, Held::Nothing) {
            schema::create(&mut connection, &setup)?;
        }
        Ok(held)
    };
    match create().map_err(|trouble: Trouble| trouble.of_opening(path, refused))? {
        Held::Nothing => Ok(setup),
        Held::Run(_) => Err(refused("it holds a run; --resume goes on with it")),
        Held::Other => Err(refused("it holds something else")),
    }
}
