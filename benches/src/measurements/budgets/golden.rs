//! What no optimisation may change: helps, orders of polls, counts and bytes, names of figures. Their hashes are committed.

use std::fmt::Write;
use std::fs;

use clap::{Command, CommandFactory, ValueEnum};
use sha2::{Digest, Sha256};

use super::options::Options;
use super::order;
use crate::cli::Line;
use crate::failure::Failure;
use crate::harness::{Common, target};
use crate::measurements::Keyed;
use crate::measurements::arm::Arm;
use crate::measurements::sessions::options::Scenario;
use crate::measurements::sessions::{decided, usual};
use crate::terminal;
use crate::whole_file::WholeFile;

/// What has a hash: its name, and its text.
type Text = (String, String);

const SEED: u64 = 1;

/// Checks the hashes, or writes them anew.
pub(super) fn command(options: &Options) -> Result<(), Failure> {
    let (texts, file) = (texts(), options.file());
    let hashes: String = texts.iter().map(line).collect();
    if options.update {
        WholeFile::at(&file)?.write(|out| out.write_all(hashes.as_bytes()))?;
        return terminal::print_text(&format!("'{}'\n", file.display()));
    }
    let unreadable = Failure::unable(format!("cannot read '{}'", file.display()));
    let committed = fs::read_to_string(&file).map_err(unreadable)?;
    let changed: Vec<&Text> = texts.iter().filter(|text| !committed.contains(&line(text))).collect();
    let names: Vec<&str> = changed.iter().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() && committed.lines().count() == texts.len() {
        return terminal::print_text(&format!("{} as they were\n", texts.len()));
    }
    let folder = target::folder_of_run(&target::folder("golden"), SEED)?;
    for (name, text) in changed {
        WholeFile::at(&folder.join(name))?.write(|out| out.write_all(text.as_bytes()))?;
    }
    let (names, folder) = (names.join(", "), folder.display());
    Err(Failure::run(format!(
        "not as they were: {names}; what they are now is in '{folder}'. If this is meant to be, `budgets --golden --update`"
    )))
}

/// As `sha256sum` writes it.
fn line((name, text): &Text) -> String {
    let mut line = String::new();
    for byte in Sha256::digest(text) {
        write!(line, "{byte:02x}").expect("a string takes all");
    }
    format!("{line}  {name}\n")
}

fn texts() -> Vec<Text> {
    let orders = order::all(SEED).into_iter().map(|(name, order)| (format!("order_of_polls.{name}"), order));
    let results = Scenario::value_variants().iter().map(|scenario| results(&scenario.key()));
    helps().into_iter().chain(orders).chain(results).collect()
}

/// Its arms, and so its help, depend on the build's features.
const BY_FEATURES: &str = "overhead";

/// The help of the program and of each of its commands.
fn helps() -> Vec<Text> {
    let program = Line::command().term_width(100);
    let is_golden = |command: &&Command| !command.is_hide_set() && command.get_name() != BY_FEATURES;
    let visible = program.get_subcommands().filter(is_golden);
    let help = |command: &Command| {
        let text = command.clone().term_width(100).render_long_help().to_string();
        (format!("help.{}", command.get_name()), text)
    };
    [help(&program)].into_iter().chain(visible.map(help)).collect()
}

/// What a seed decides in a run of `sessions`, by name: counts and bytes.
fn results(scenario: &str) -> Text {
    let common = Common { quick: true, seed: SEED, ..Common::default() };
    let (world, setup) = usual(scenario, 10, &common);
    (format!("sessions.{scenario}"), decided(&Arm::Queues.run(|| setup.queues(), &world)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_hash_is_the_published_one() {
        let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  name\n";
        assert_eq!(line(&("name".to_owned(), "abc".to_owned())), wanted);
    }

    #[test]
    fn a_seed_gives_the_same_order_and_each_scheduler_its_own() {
        let orders = order::all(7);
        assert_eq!(orders, order::all(7));
        assert_ne!(orders[0].1, order::all(8)[0].1);
        let different: BTreeSet<_> = orders.iter().map(|(_, order)| order).collect();
        assert_eq!(different.len(), orders.len());
    }
}
