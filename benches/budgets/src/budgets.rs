//! The file of budgets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{error, fmt, fs, io};

use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::callgrind::Count;
use crate::operations::Operation;
use crate::toolchain::Toolchain;

/// What an operation may take.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    pub toolchain: Toolchain,
    budgets: BTreeMap<String, Budget>,
    document: DocumentMut,
    path: PathBuf,
}

/// The file that the repository has.
pub fn default_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../budgets.toml")
}

/// What is wrong with a file of budgets.
#[derive(Debug)]
pub struct BudgetsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a file of budgets.
#[derive(Debug)]
pub enum Problem {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is not TOML.
    Syntax(toml_edit::TomlError),
    /// An operation has no budget.
    Missing(&'static str),
    /// There is a budget for what is not, or no longer, an operation with a budget.
    Unknown(String),
    /// This entry is missing or not what it should be.
    Wrong {
        /// Where it is.
        entry: String,
        /// What it should be.
        wanted: &'static str,
    },
}

impl fmt::Display for BudgetsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", shown(&self.path))?;
        match &self.problem {
            Problem::Unreadable(error) => error.fmt(f),
            Problem::Syntax(error) => write!(f, "{}", error.to_string().trim_end()),
            Problem::Missing(key) => write!(f, "no budget for '{key}'; {REWRITE}"),
            Problem::Unknown(key) => write!(f, "a budget for '{key}', which is no operation; {REWRITE}"),
            Problem::Wrong { entry, wanted } => write!(f, "'{entry}' must be {wanted}"),
        }
    }
}

impl error::Error for BudgetsError {}

/// What to do when budgets are to change.
pub const REWRITE: &str = "if this is meant to be, `cargo run --release -p clockworker-budgets -- rewrite` sets it, to be committed with the reason";

/// The path as a reader in the repository would name it.
fn shown(path: &Path) -> String {
    if path == default_path() { "benches/budgets.toml".to_owned() } else { path.display().to_string() }
}

impl Budgets {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// If it does not have exactly one budget for each operation that is to have one.
    pub fn read(path: &Path) -> Result<Budgets, BudgetsError> {
        let budgets = Budgets::read_any(path)?;
        let problem = Operation::ALL
            .iter()
            .find(|operation| operation.is_budgeted && !budgets.budgets.contains_key(operation.key))
            .map(|operation| Problem::Missing(operation.key))
            .or_else(|| {
                let is_known =
                    |key: &str| Operation::find(key).is_some_and(|operation| operation.is_budgeted);
                budgets.budgets.keys().find(|key| !is_known(key)).cloned().map(Problem::Unknown)
            });
        match problem {
            Some(problem) => Err(BudgetsError { path: path.to_owned(), problem }),
            None => Ok(budgets),
        }
    }

    /// Reads the file, whatever operations it knows: it is going to be rewritten.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or what is in it is not of the form that it should be.
    pub fn read_any(path: &Path) -> Result<Budgets, BudgetsError> {
        let fail = |problem| BudgetsError { path: path.to_owned(), problem };
        let text = fs::read_to_string(path).map_err(|error| fail(Problem::Unreadable(error)))?;
        let document: DocumentMut = text.parse().map_err(|error| fail(Problem::Syntax(error)))?;
        let toolchain = toolchain(&document).map_err(fail)?;
        let budgets = operations(&document).map_err(fail)?;
        Ok(Budgets { toolchain, budgets, document, path: path.to_owned() })
    }

    /// The budget of an operation, if it has one.
    pub fn get(&self, operation: Operation) -> Option<Budget> {
        self.budgets.get(operation.key).copied()
    }

    /// The file's text with these counts for budgets. Comments and order stay.
    pub fn rewritten(&self, toolchain: &Toolchain, counts: &[(Operation, Count)]) -> String {
        let mut document = self.document.clone();
        let parts =
            [("rustc", &toolchain.rustc), ("target", &toolchain.target), ("rustflags", &toolchain.rustflags)];
        for (key, value) in parts {
            set(&mut document["toolchain"][key], value.as_str().into());
        }
        let operations = document["operations"].as_table_like_mut();
        let operations = operations.expect("it was a table when it was read");
        let is_known = |key: &str| counts.iter().any(|(operation, _)| operation.key == key);
        let gone: Vec<String> =
            operations.iter().map(|(key, _)| key.to_owned()).filter(|key| !is_known(key)).collect();
        for key in gone {
            operations.remove(&key);
        }
        for (operation, count) in counts {
            let entry = operations
                .entry(operation.key)
                .or_insert_with(|| Item::Value(Value::InlineTable(Default::default())));
            set(&mut entry["instructions"], rounded(count.instructions));
            set(&mut entry["allocations"], rounded(count.allocations));
        }
        document.to_string()
    }

    /// The file that was read.
    pub fn path(&self) -> &Path {
        &self.path
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

fn toolchain(document: &DocumentMut) -> Result<Toolchain, Problem> {
    let part = |key: &str| {
        let text = document.get("toolchain").and_then(|table| table.get(key)).and_then(Item::as_str);
        text.map(str::to_owned)
            .ok_or_else(|| Problem::Wrong { entry: format!("toolchain.{key}"), wanted: "a string" })
    };
    Ok(Toolchain { rustc: part("rustc")?, target: part("target")?, rustflags: part("rustflags")? })
}

fn operations(document: &DocumentMut) -> Result<BTreeMap<String, Budget>, Problem> {
    let table = document.get("operations").and_then(Item::as_table_like);
    let table = table.ok_or(Problem::Wrong { entry: "operations".to_owned(), wanted: "a table" })?;
    table.iter().map(|(key, entry)| Ok((key.to_owned(), budget(key, entry)?))).collect()
}

fn budget(key: &str, entry: &Item) -> Result<Budget, Problem> {
    let wrong = |entry: String, wanted| Problem::Wrong { entry, wanted };
    let path = format!("operations.{key}");
    let table: &dyn TableLike = entry
        .as_table_like()
        .ok_or_else(|| wrong(path.clone(), "a table of `instructions` and `allocations`"))?;
    if let Some((other, _)) = table.iter().find(|&(name, _)| name != "instructions" && name != "allocations")
    {
        return Err(wrong(
            format!("{path}.{other}"),
            "absent: an entry has `instructions` and `allocations`",
        ));
    }
    let number =
        |name: &str| table.get(name).and_then(|item| item.as_float().or(item.as_integer().map(|n| n as f64)));
    let instructions = number("instructions").filter(|number| number.is_finite() && *number > 0.0);
    let allocations = number("allocations").filter(|number| number.is_finite() && *number >= 0.0);
    Ok(Budget {
        instructions: instructions
            .ok_or_else(|| wrong(format!("{path}.instructions"), "a number above 0"))?,
        allocations: allocations
            .ok_or_else(|| wrong(format!("{path}.allocations"), "a number, 0 or above"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these lines for operations.
    fn parsed(text: &str) -> Result<Budgets, BudgetsError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("budgets.toml");
        fs::write(&path, text).unwrap();
        Budgets::read(&path)
    }

    fn problem(text: &str) -> String {
        let said = parsed(text).unwrap_err().to_string();
        said.split_once("budgets.toml: ").unwrap().1.to_owned()
    }

    const HEAD: &str = "# first\n[toolchain]\nrustc = \"1\" # the compiler\ntarget = \"t\"\nrustflags = \"\"\n\n[operations]\n# all\n";

    fn full() -> String {
        let budgeted = Operation::ALL.iter().filter(|operation| operation.is_budgeted);
        let line = |operation: &Operation| {
            format!("{} = {{ instructions = 50.5, allocations = 0 }}\n", operation.key)
        };
        HEAD.to_owned() + &budgeted.map(line).collect::<String>()
    }

    #[test]
    fn the_repositorys_own_file_is_complete() {
        Budgets::read(&default_path()).unwrap();
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
    fn what_is_missing_or_too_much_is_named() {
        let without = full().lines().filter(|line| !line.starts_with("hop =")).collect::<Vec<_>>().join("\n");
        assert!(problem(&without).starts_with("no budget for 'hop'; if this is meant to be, `cargo run"));
        let with = full() + "hopp = { instructions = 1, allocations = 0 }\n";
        assert!(problem(&with).starts_with("a budget for 'hopp', which is no operation"));
        let comparison = full() + "alone = { instructions = 1, allocations = 0 }\n";
        assert!(problem(&comparison).starts_with("a budget for 'alone', which is no operation"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with =
            |entry: &str| problem(&full().replace("hop = { instructions = 50.5, allocations = 0 }", entry));
        assert_eq!(with("hop = 5"), "'operations.hop' must be a table of `instructions` and `allocations`");
        assert_eq!(
            with("hop = { instructions = 5 }"),
            "'operations.hop.allocations' must be a number, 0 or above"
        );
        for wrong in ["\"5\"", "0", "-1", "nan", "inf"] {
            let entry = format!("hop = {{ instructions = {wrong}, allocations = 0 }}");
            assert_eq!(with(&entry), "'operations.hop.instructions' must be a number above 0", "{wrong}");
        }
        let misspelt = with("hop = { instructions = 5, allocation = 0 }");
        assert!(misspelt.starts_with("'operations.hop.allocation' must be absent"), "{misspelt}");
        assert_eq!(problem("[operations]"), "'toolchain.rustc' must be a string");
        assert!(problem("[operations").contains("TOML parse error at line 1"));
        let absent = Budgets::read(Path::new("/nowhere/budgets.toml")).unwrap_err();
        assert!(matches!(absent.problem, Problem::Unreadable(_)), "{absent}");
    }

    #[test]
    fn rewriting_changes_numbers_and_keeps_the_rest() {
        let count = |instructions| Count { instructions, allocations: 0.0, functions: Vec::new() };
        let budgeted = Operation::ALL.into_iter().filter(|operation| operation.is_budgeted);
        let counts: Vec<_> =
            budgeted.map(|each| (each, count(if each.key == "hop" { 61.00005 } else { 50.5 }))).collect();
        let budgets = parsed(&(full() + "gone = { instructions = 1, allocations = 0 }\n")).unwrap_err();
        assert!(matches!(budgets.problem, Problem::Unknown(_)));
        let toolchain = Toolchain { rustc: "2".into(), target: "t".into(), rustflags: String::new() };
        let text = parsed(&full()).unwrap().rewritten(&toolchain, &counts);
        let wanted = full()
            .replace("\"1\"", "\"2\"")
            .replace("hop = { instructions = 50.5,", "hop = { instructions = 61.0001,");
        assert_eq!(text, wanted);
    }
}
