//! The program from outside, as far as it goes without valgrind.

use std::fs;
use std::process::{Command, Output};

fn budgets(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_budgets")).args(arguments).output().unwrap()
}

fn assert_refused(output: &Output, wanted: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: ") && said.contains(wanted), "{said} does not say {wanted}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_file_that_cannot_be_used_is_refused_before_anything_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("budgets.toml");
    let check = ["check", "--budgets", file.to_str().unwrap()];
    assert_refused(&budgets(&check), "No such file");
    fs::write(&file, "[toolchain]\nrustc = ''\ntarget = ''\nrustflags = ''\n[operations]\n").unwrap();
    assert_refused(&budgets(&check), "no budget for 'poll_one_queue'");
}

#[test]
fn what_is_no_operation_is_refused() {
    for arguments in [&["check", "--operation", "pol"][..], &["profile", "pol"]] {
        assert_refused(&budgets(arguments), "there is no such operation; there are poll_one_queue,");
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_debug_build_measures_nothing() {
    assert_refused(&budgets(&["check"]), "use `cargo run --release`");
}
