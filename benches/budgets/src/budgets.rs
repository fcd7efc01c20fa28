//! The file of budgets.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use toml_edit::{DocumentMut, Value, value};

use crate::callgrind::Count;
use crate::operations::Operation;

/// What an operation may take.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Instructions, exceeded by no more than a tolerance.
    pub instructions: f64,
    /// Allocations, not exceeded at all.
    pub allocations: f64,
}

/// What instruction counts depend on besides the sources.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Toolchain {
    /// Version and commit of the compiler.
    pub(crate) rustc: String,
    pub(crate) target: String,
    /// Flags from the environment or from cargo's configuration.
    pub(crate) rustflags: String,
}

impl Toolchain {
    pub(crate) fn present() -> Self {
        let [rustc, target, rustflags] =
            [env!("BUILT_WITH_RUSTC"), env!("BUILT_FOR"), env!("BUILT_WITH_RUSTFLAGS")].map(str::to_owned);
        Toolchain { rustc, target, rustflags }
    }
}

/// The budgets, and what they hold for.
#[derive(Clone, Debug, Deserialize)]
pub struct Budgets {
    pub(crate) toolchain: Toolchain,
    operations: BTreeMap<String, Budget>,
}

/// The file that the repository has.
pub(crate) const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../budgets.toml");

/// What to do when budgets are to change.
pub(crate) const REWRITE: &str = "if this is meant to be, `cargo run --release -p clockworker-budgets -- rewrite` sets it, to be committed with the reason";

impl Budgets {
    /// Reads the file that the repository has.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has not a budget for each operation that is to have one.
    pub fn read() -> Result<Budgets> {
        let text = fs::read_to_string(PATH).context(PATH)?;
        Budgets::parse(&text).context(PATH)
    }

    fn parse(text: &str) -> Result<Budgets> {
        let budgets: Budgets = toml_edit::de::from_str(text)?;
        budgets.check()?;
        Ok(budgets)
    }

    fn check(&self) -> Result<()> {
        let budgeted: Vec<Operation> = Operation::all().into_iter().filter(|one| one.is_budgeted).collect();
        if let Some(missing) = budgeted.iter().find(|operation| self.of_key(operation.key).is_none()) {
            bail!("no budget for '{}'; {REWRITE}", missing.key);
        }
        let is_known = |key: &str| budgeted.iter().any(|operation| operation.key == key);
        if let Some(unknown) = self.operations.keys().find(|key| !is_known(key)) {
            bail!("a budget for '{unknown}', which is no operation; {REWRITE}");
        }
        Ok(())
    }

    /// The budget of an operation, if it has one.
    pub fn of_key(&self, key: &str) -> Option<Budget> {
        self.operations.get(key).copied()
    }
}

/// The text of a file of budgets, with these counts for budgets and otherwise as it was. A difference of one instruction in 10,000
/// operations still shows.
pub(crate) fn rewritten(text: &str, toolchain: &Toolchain, counts: &[(Operation, Count)]) -> Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let Toolchain { rustc, target, rustflags } = toolchain;
    for (key, said) in [("rustc", rustc), ("target", target), ("rustflags", rustflags)] {
        document["toolchain"][key] = value(said);
    }
    let operations = document["operations"].as_table_mut().context("it has no table of operations")?;
    operations.retain(|key, _| counts.iter().any(|(operation, _)| operation.key == key));
    for (operation, Count { instructions, allocations }) in counts {
        let [instructions, allocations] =
            [instructions, allocations].map(|number| (number * 10_000.0).round() / 10_000.0);
        let budget = format!("{{ instructions = {instructions}, allocations = {allocations} }}");
        operations[operation.key] = value(budget.parse::<Value>()?);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "# first\n[toolchain]\nrustc = \"1\"\ntarget = \"t\"\nrustflags = \"\"\n\n[operations]\n";
    const HOP: &str = "hop = { instructions = 50.5, allocations = 0 }\n";

    fn budgeted() -> impl Iterator<Item = Operation> {
        Operation::all().into_iter().filter(|operation| operation.is_budgeted)
    }

    fn full() -> String {
        HEAD.to_owned() + &budgeted().map(|operation| HOP.replace("hop", operation.key)).collect::<String>()
    }

    #[test]
    fn what_is_wrong_is_named() {
        Budgets::parse(&full()).unwrap();
        for (text, wanted) in [
            (
                full().replace(&format!("\n{HOP}"), "\n"),
                "no budget for 'hop'; if this is meant to be, `cargo run",
            ),
            (full() + &HOP.replace("hop", "alone"), "a budget for 'alone', which is no operation"),
            (full().replacen(", allocations = 0", "", 1), "missing field `allocations`"),
        ] {
            let said = format!("{:#}", Budgets::parse(&text).unwrap_err());
            assert!(said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn rewriting_changes_numbers_and_keeps_the_rest_in_its_order() {
        let count = |instructions| Count { instructions, allocations: 0.0 };
        let mut counts: Vec<_> =
            budgeted().map(|each| (each, count(if each.key == "hop" { 61.00005 } else { 50.5 }))).collect();
        counts.reverse();
        let toolchain = Toolchain { rustc: "2".into(), target: "t".into(), rustflags: String::new() };
        let before = full() + &HOP.replace("hop", "gone");
        let text = rewritten(&before, &toolchain, &counts).unwrap();
        let wanted = full()
            .replace("\"1\"", "\"2\"")
            .replace("\nhop = { instructions = 50.5,", "\nhop = { instructions = 61.0001,");
        assert_eq!(text, wanted);
    }
}
