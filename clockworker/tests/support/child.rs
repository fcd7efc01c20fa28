//! Tests that need a process of their own.

use std::any::type_name;
use std::env;
use std::process::Command;

/// Runs a test's body, a closure in the test itself, in a process of its own, where it is alone: for faults that abort the
/// process, and for forks.
///
/// Outside of that process: what it has printed.
pub(crate) fn in_child<F: FnOnce()>(body: F) -> Option<String> {
    in_child_of(Command::new(env::current_exe().unwrap()), body)
}

/// As [`in_child`]; `command` begins this program.
pub(crate) fn in_child_of<F: FnOnce()>(mut command: Command, body: F) -> Option<String> {
    const CHILD: &str = "CLOCKWORKER_TEST_CHILD";
    if env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    // `program::module::test::{{closure}}`.
    let test = type_name::<F>().strip_suffix("::{{closure}}").and_then(|path| path.split_once("::"));
    let (_, test) = test.expect("the name of a closure in a test");
    let child = command.args(["--exact", test, "--test-threads=1"]).env(CHILD, "1").output().unwrap();
    let text = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
    Some(text)
}
