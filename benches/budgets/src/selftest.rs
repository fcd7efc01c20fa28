//! The check, checked: it must fail when something has become slower, and only then.

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use clockworker_terminal::failure::Failure;

/// What is made slower: operations of few instructions and of many.
const TRIED: [&str; 3] = ["wake", "poll_one_queue", "spawn_and_join"];

/// Tries the check, on a copy of the file of budgets that is rewritten first.
pub(crate) fn run(budgets: &Path) -> Result<(), Failure> {
    let directory = tempfile::tempdir().map_err(Failure::unable("cannot make a temporary directory"))?;
    let copy = directory.path().join("budgets.toml");
    fs::copy(budgets, &copy).map_err(Failure::unable("cannot copy the budgets"))?;
    expect(&program(&copy, "rewrite", &[])?, 0, "")?;

    for key in TRIED {
        let check = |slowdown: &str| program(&copy, "check", &["--operation", key, "--slowdown", slowdown]);
        let first = check("0")?;
        expect(&first, 0, "")?;
        if check("0")?.stdout != first.stdout {
            return Err(wrong(&format!("two counts of '{key}' differ")));
        }
        expect(&check("10")?, 0, "")?;
        expect(&check("30")?, 1, &format!("over budget: {key}: "))?;
    }

    let text = fs::read_to_string(&copy).map_err(Failure::unable("cannot copy the budgets"))?;
    let without: String = text.split_inclusive('\n').filter(|line| !line.starts_with("hop = ")).collect();
    fs::write(&copy, without).map_err(Failure::unable("cannot copy the budgets"))?;
    expect(&program(&copy, "check", &[])?, 2, "no budget for 'hop'")
}

fn program(budgets: &Path, command: &str, arguments: &[&str]) -> Result<Output, Failure> {
    let program = env::current_exe().map_err(Failure::unable("cannot find this program"))?;
    let output = Command::new(program).arg(command).arg("--budgets").arg(budgets).args(arguments).output();
    output.map_err(Failure::unable("cannot run this program again"))
}

fn expect(output: &Output, status: i32, said: &str) -> Result<(), Failure> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(status) && stderr.contains(said) {
        return Ok(());
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let wanted = format!("it should have ended with status {status} and said '{said}'");
    Err(wrong(&format!("{wanted}, but ended with {}:\n{stdout}{stderr}", output.status)))
}

fn wrong(what: &str) -> Failure {
    Failure::request(format!("the check does not do what it should: {what}"))
}
