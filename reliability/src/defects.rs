//! Seeded defects: realistic bugs, kept as patches, each of which a test must catch.
//!
//! The patches are in `clockworker/tests/defects/`; see `seeded.rs` for what stands at the head of each. One after the other is
//! put into a scratch copy of the workspace. The copy must build, and the test that the patch names must fail, or hang
//! for as long as is said. The same tests must pass in the copy as it was.

mod seeded;
mod testbed;

use std::time::Duration;

use anyhow::ensure;
use clap::Args;

use crate::BadRequest;
use crate::cases::bar;
use crate::figure::{Figure, exactly, table_of};
use crate::scratch::{Scratch, workspace};
use seeded::Defect;
use testbed::{Ended, Testbed};

/// Puts bugs into the library and requires that a test notices each.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only the defects marked as quick: one of each kind that the project began with.
    #[arg(long)]
    quick: bool,
    /// Only the defects whose names contain TEXT.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// List the defects and do nothing.
    #[arg(long)]
    list: bool,
    /// Take a test that runs for so many seconds for one that hangs.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    hang: u64,
}

/// See the [module docs](self). One figure per promise: how many of its defects were caught.
#[allow(clippy::print_stdout, reason = "the table is for a terminal")]
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let defects = chosen(options)?;
    if options.list {
        println!("{}", listed(&defects));
        return Ok(Vec::new());
    }
    let testbed = Testbed { scratch: Scratch::copy("defects")?, hang: Duration::from_secs(options.hang) };
    testbed.check_unbroken(&defects)?;
    // In order of their tests, so that few programs are built twice.
    let bar = bar(defects.len() as u64);
    let tried = defects.iter().map(|defect| {
        bar.set_message(defect.name.clone());
        testbed.try_defect(defect)
    });
    let ends = bar.wrap_iter(tried).collect::<anyhow::Result<Vec<Ended>>>()?;
    bar.finish_and_clear();
    println!("{}", told(&defects, &ends, options.hang));
    Ok(figures(&defects, &ends))
}

fn chosen(options: &Options) -> anyhow::Result<Vec<Defect>> {
    let mut defects = seeded::read_all(&workspace().join(seeded::FOLDER))?;
    defects.retain(|defect| {
        let is_asked_for = options.only.as_ref().is_none_or(|text| defect.name.contains(text.as_str()));
        is_asked_for && (defect.quick || !options.quick)
    });
    let none = "there is no such defect; --list shows those there are";
    ensure!(!defects.is_empty(), BadRequest(none.to_owned()));
    Ok(defects)
}

fn listed(defects: &[Defect]) -> String {
    let rows = defects.iter().map(|defect| {
        let quick = if defect.quick { "yes" } else { "" };
        [defect.name.clone(), defect.what.clone(), defect.promise.to_string(), quick.to_owned()]
    });
    table_of(["defect", "what it is", "promise", "quick"], rows)
}

fn told(defects: &[Defect], ends: &[Ended], hang: u64) -> String {
    let rows = defects.iter().zip(ends).map(|(defect, ended)| {
        let (how, words) = match ended {
            Ended::Passed => ("PASSED, so the defect was not caught".to_owned(), ""),
            Ended::Failed { words } => ("failed".to_owned(), words.as_str()),
            Ended::Crashed { how, words } => (format!("crashed: {how}"), words.as_str()),
            Ended::Hung => (format!("hung for {hang} s"), ""),
        };
        [defect.name.clone(), defect.caught_by.to_string(), how, words.to_owned()]
    });
    table_of(["defect", "test that is to catch it", "the test", "first words"], rows)
}

/// How many of each promise's defects were caught: all of them, or the figure is broken.
fn figures(defects: &[Defect], ends: &[Ended]) -> Vec<Figure> {
    let mut promises: Vec<u8> = defects.iter().map(|defect| defect.promise).collect();
    promises.sort_unstable();
    promises.dedup();
    promises
        .into_iter()
        .map(|promise| {
            let of_it = || defects.iter().zip(ends).filter(|(defect, _)| defect.promise == promise);
            let caught = of_it().filter(|(_, ended)| ended.is_caught()).count();
            let all = of_it().count();
            exactly(promise, format!("seeded defects caught, of {all}"), caught, all)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_that_was_not_caught_breaks_its_figure() {
        let defects = ["a", "b", "c"].map(|name| Defect {
            name: name.to_owned(),
            what: "it is wrong".to_owned(),
            promise: if name == "c" { 9 } else { 4 },
            caught_by: "wakers::a".parse().unwrap(),
            quick: false,
            path: "nowhere".into(),
        });
        let ends = [Ended::Hung, Ended::Passed, Ended::Failed { words: "left: 1".to_owned() }];
        let figures = figures(&defects, &ends);
        assert_eq!(figures.iter().map(|figure| figure.promise).collect::<Vec<_>>(), [4, 9]);
        assert_eq!(figures.iter().map(Figure::is_kept).collect::<Vec<_>>(), [false, true]);
        assert!(told(&defects, &ends, 7).contains("hung for 7 s"));
    }
}
