//! The command `programs`: what a program written for `LocalSet` costs and gains when only its imports change.
//!
//! The files in `programs/both` are compiled twice: once with `tokio::task`, once with `clockworker::compat`; `requests.rs`
//! once with monoio's spawn and once with Clockworker's. Nothing else differs. `both/mod.rs` lists them.
//!
//! In each round a program is run once by each arm, on a fresh set in a fresh host. The base runs twice: what its second
//! number over its first makes is what the method makes of no difference at all. What is resident afterwards is measured in
//! a process of its own each time.

mod chapter;
pub mod child;
mod clients;
mod list;
pub mod options;
mod program;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report, Rounds, Sample, Sampling, arms, command};
use crate::page::Chapter;
use crate::stats::Conclusion;
use crate::terminal;

use options::Options;
use program::{Arm, Program, Setting};

pub(crate) struct Programs;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub program: String,
    pub limit: f64,
}

impl Measurement for Programs {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "programs";
    const SCHEMA: &'static str = "clockworker-programs";
    const QUESTION: &'static str =
        "What do programs written for LocalSet take when only their imports change?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let setting = || Setting { common: options.common.clone(), pinning: pinning.clone() };
        let programs = options.programs();
        Ok(programs.map(|program| Box::new(sampled(program, setting())) as _).collect())
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        chapter::findings(cells).filter_map(|finding| finding.conclusion()).collect()
    }
}

/// A program, and how it is measured.
fn sampled(program: [&'static Program; 2], setting: Setting) -> Sampling<Shape> {
    let Program { key, title, base, limit, apart, .. } = *program[0];
    let arm = |arm: Arm| {
        let runner = if arm == Arm::Base { base } else { "Clockworker" };
        (arm.key().to_owned(), runner.to_owned())
    };
    let cell = Cell::new(title, Shape { program: key.to_owned(), limit }, arms(Arm::ALL.map(arm)));
    // In a process of its own it comes out nearly the same each time.
    let usual = if apart { 5 } else { 20 };
    let rounds = Rounds { usual, limit: Some(Duration::from_secs(10)), warms_up: true };
    Sampling::new(vec![cell], rounds, move |window| {
        let arm = Arm::ALL[window.arm];
        let program = program[arm as usize];
        let numbers = match program.apart {
            true => child::sample(program, arm, &setting)?,
            false => (program.run)(&setting),
        };
        let named = program.quantities.iter().zip(numbers);
        Ok(named.fold(Sample::default(), |sample, (what, number)| sample.with_number(what.key, number)))
    })
}

pub fn command(options: &Options) -> Result<(), Failure> {
    match options.list {
        true => terminal::print_text(&list::titles()),
        false => command::command::<Programs>(options),
    }
}
