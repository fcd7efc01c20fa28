//! The file of budgets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml_edit::{DocumentMut, Item, Value};

use crate::callgrind::Count;
use crate::operations::Operation;
use crate::toolchain::Toolchain;
use clockworker_terminal::failure::Failure;

/// What an operation may take.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Instructions, exceeded by no more than a tolerance.
    pub instructions: f64,
    /// Allocations, not exceeded at all.
    pub allocations: f64,
}

/// The budgets, and what they hold for.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// What the counted program was built with.
    pub(crate) toolchain: Toolchain,
    budgets: BTreeMap<String, Budget>,
    document: DocumentMut,
}

/// What of the file is read.
#[derive(Deserialize)]
struct Content {
    toolchain: Toolchain,
    operations: BTreeMap<String, Budget>,
}

/// The file that the repository has.
pub const DEFAULT_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../budgets.toml");

/// What to do when budgets are to change.
pub(crate) const REWRITE: &str = "if this is meant to be, `cargo run --release -p clockworker-budgets -- rewrite` sets it, to be committed with the reason";

impl Budgets {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Budgets, Failure> {
        let budgets = Budgets::read_any(path)?;
        let mut operations = Operation::all();
        operations.retain(|operation| operation.is_budgeted);
        let is_known = |key: &str| operations.iter().any(|operation| operation.key == key);
        let missing = operations.iter().find(|operation| budgets.get(**operation).is_none());
        let unknown = budgets.budgets.keys().find(|key| !is_known(key));
        let problem = match (missing, unknown) {
            (Some(operation), _) => format!("no budget for '{}'", operation.key),
            (None, Some(key)) => format!("a budget for '{key}', which is no operation"),
            (None, None) => return Ok(budgets),
        };
        Err(Failure::request(format!("{}: {problem}; {REWRITE}", path.display())))
    }

    /// Reads the file, whatever operations it knows: it is going to be rewritten.
    pub(crate) fn read_any(path: &Path) -> Result<Budgets, Failure> {
        let text = fs::read_to_string(path).map_err(Failure::unable(path.display()))?;
        Budgets::parse(&text)
            .map_err(|problem| Failure::request(format!("{}: {}", path.display(), problem.trim_end())))
    }

    fn parse(text: &str) -> Result<Budgets, String> {
        let document = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
        let Content { toolchain, operations: budgets } =
            toml_edit::de::from_str(text).map_err(|error| error.to_string())?;
        let is_out_of_range = |budget: &Budget| {
            let Budget { instructions, allocations } = *budget;
            !(instructions > 0.0 && instructions.is_finite() && allocations >= 0.0 && allocations.is_finite())
        };
        match budgets.iter().find(|(_, budget)| is_out_of_range(budget)) {
            Some((key, _)) => {
                Err(format!("'operations.{key}' needs `instructions` above 0, and `allocations`, 0 or above"))
            }
            None => Ok(Budgets { toolchain, budgets, document }),
        }
    }

    /// The budget of an operation, if it has one.
    pub fn get(&self, operation: Operation) -> Option<Budget> {
        self.budgets.get(operation.key).copied()
    }

    /// The file's text with these counts for budgets. Comments and order stay.
    pub(crate) fn rewritten(&self, toolchain: &Toolchain, counts: &[(Operation, Count)]) -> String {
        let mut document = self.document.clone();
        let parts =
            [("rustc", &toolchain.rustc), ("target", &toolchain.target), ("rustflags", &toolchain.rustflags)];
        for (key, value) in parts {
            set(&mut document["toolchain"][key], value.as_str().into());
        }
        if let Some(operations) = document["operations"].as_table_mut() {
            operations.retain(|key, _| counts.iter().any(|(operation, _)| operation.key == key));
        }
        for (operation, count) in counts {
            let entry = &mut document["operations"][operation.key];
            set(&mut entry["instructions"], rounded(count.instructions));
            set(&mut entry["allocations"], rounded(count.allocations));
        }
        document.to_string()
    }
}

/// Changes a value and leaves what is around it.
fn set(item: &mut Item, mut to: Value) {
    if let Some(value) = item.as_value() {
        *to.decor_mut() = value.decor().clone();
    }
    *item = Item::Value(to);
}

/// To what a difference of one instruction in 10,000 operations still shows; whole numbers as such.
fn rounded(number: f64) -> Value {
    let number = (number * 10_000.0).round() / 10_000.0;
    if number.fract() == 0.0 { Value::from(number as i64) } else { Value::from(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Budgets, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let path = file.path().display().to_string();
        Budgets::read(file.path()).map_err(|failure| failure.to_string().replace(&(path + ": "), ""))
    }

    const HEAD: &str = "# first\n[toolchain]\nrustc = \"1\" # the compiler\ntarget = \"t\"\nrustflags = \"\"\n\n[operations]\n# all\n";

    const HOP: &str = "hop = { instructions = 50.5, allocations = 0 }\n";

    fn full() -> String {
        let budgeted = Operation::all().into_iter().filter(|operation| operation.is_budgeted);
        HEAD.to_owned() + &budgeted.map(|operation| HOP.replace("hop", operation.key)).collect::<String>()
    }

    #[test]
    fn a_budget_is_read() {
        let budgets = parsed(&full()).unwrap();
        let budget = budgets.get(Operation::find("hop").unwrap());
        assert_eq!(budget, Some(Budget { instructions: 50.5, allocations: 0.0 }));
        assert_eq!(budgets.get(Operation::find("alone").unwrap()), None);
        assert_eq!(budgets.toolchain.rustc, "1");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let problem = |text: &str| parsed(text).unwrap_err();
        let missing = problem(&full().replace(&format!("\n{HOP}"), "\n"));
        assert!(missing.starts_with("no budget for 'hop'; if this is meant to be, `cargo run"), "{missing}");
        for key in ["hopp", "alone"] {
            let unknown = problem(&(full() + &HOP.replace("hop", key)));
            assert!(
                unknown.starts_with(&format!("a budget for '{key}', which is no operation")),
                "{unknown}"
            );
        }
        for (wrong, wanted) in [
            ("5", "invalid type: integer `5`"),
            ("{ instructions = 5 }", "missing field `allocations`"),
            ("{ instructions = 5, allocations = 0, time = 1 }", "unknown field `time`"),
            ("{ instructions = \"5\", allocations = 0 }", "invalid type: string"),
            ("{ instructions = 0, allocations = 0 }", "'operations.hop' needs `instructions` above 0"),
            ("{ instructions = inf, allocations = 0 }", "'operations.hop' needs"),
            ("{ instructions = 5, allocations = -1 }", "'operations.hop' needs"),
            ("{ instructions = 5, allocations = nan }", "'operations.hop' needs"),
        ] {
            let said = problem(&full().replace(&format!("\n{HOP}"), &format!("\nhop = {wrong}\n")));
            assert!(said.contains(wanted), "{said}");
        }
        assert!(problem("[operations]").contains("missing field `toolchain`"));
        assert!(
            problem(HEAD.trim_end_matches("[operations]\n# all\n")).contains("missing field `operations`")
        );
        assert!(problem("[operations").contains("TOML parse error at line 1"));
    }

    #[test]
    fn rewriting_changes_numbers_and_keeps_the_rest() {
        let count = |instructions| Count { instructions, allocations: 0.0, functions: Vec::new() };
        let budgeted = Operation::all().into_iter().filter(|operation| operation.is_budgeted);
        let counts: Vec<_> =
            budgeted.map(|each| (each, count(if each.key == "hop" { 61.00005 } else { 50.5 }))).collect();
        let last = HOP.replace("hop", counts.last().unwrap().0.key);
        let before = full().replace(&last, &HOP.replace("hop", "gone"));
        let toolchain = Toolchain { rustc: "2".into(), target: "t".into(), rustflags: String::new() };
        let text = Budgets::parse(&before).unwrap().rewritten(&toolchain, &counts);
        let wanted = full()
            .replace("\"1\"", "\"2\"")
            .replace("hop = { instructions = 50.5,", "hop = { instructions = 61.0001,");
        assert_eq!(text, wanted);
    }
}
