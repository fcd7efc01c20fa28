//! A seeded defect: a patch, and at its head what it is and who must notice.
//!
//! ```text
//! # A push onto the inbox of a parked host wakes nobody.
//! # promise: 1
//! # caught-by: runs::host_wakes::wakes_and_spawns_from_other_threads_wake_a_sleeping_host_exactly_once_per_park
//! # quick
//! diff --git …
//! ```
//!
//! Tests are named with their programs: `program::module::test`, `schedulers/program::module::test`; and `lib::path::test` or
//! `schedulers/lib::path::test` for one beside the code.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow};

/// Where the patches are, in the workspace.
pub(super) const FOLDER: &str = "clockworker/tests/defects";

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub(super) struct Defect {
    pub(super) name: String,
    pub(super) what: String,
    pub(super) promise: u8,
    pub(super) caught_by: TestName,
    /// Whether it is among the few that are tried on each commit.
    pub(super) quick: bool,
    pub(super) path: PathBuf,
}

/// A test: its library, its program and its path in that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestName {
    /// The library's folder in the workspace.
    pub(super) library: &'static str,
    /// None for the library's own.
    pub(super) program: Option<String>,
    pub(super) test: String,
}

/// The folders of the two libraries.
pub(super) const LIBRARIES: [&str; 2] = ["clockworker", "schedulers"];

impl TestName {
    /// What cargo is to be told to build.
    pub(super) fn target(&self) -> Vec<&str> {
        match &self.program {
            Some(program) => vec!["--test", program],
            None => vec!["--lib"],
        }
    }
}

impl FromStr for TestName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (library, rest) = match text.strip_prefix("schedulers/") {
            Some(rest) => (LIBRARIES[1], rest),
            None => (LIBRARIES[0], text),
        };
        let (program, test) =
            rest.split_once("::").ok_or_else(|| format!("'{text}' is not 'program::test'"))?;
        let program = (program != "lib").then(|| program.to_owned());
        Ok(TestName { library, program, test: test.to_owned() })
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = if self.library == LIBRARIES[1] { "schedulers/" } else { "" };
        write!(f, "{library}{}::{}", self.program.as_deref().unwrap_or("lib"), self.test)
    }
}

/// All defects of a folder, in order of their tests and names.
pub(super) fn read_all(folder: &Path) -> anyhow::Result<Vec<Defect>> {
    let mut defects = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read '{}'", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let read = fs::read_to_string(&path).map_err(|error| error.to_string());
            let defect = read.and_then(|text| parse(&path, &text));
            defects.push(defect.map_err(|error| anyhow!("'{}': {error}", path.display()))?);
        }
    }
    defects.sort_by_key(|defect| (defect.caught_by.to_string(), defect.name.clone()));
    Ok(defects)
}

fn parse(path: &Path, text: &str) -> Result<Defect, String> {
    let (mut what, mut promise, mut caught_by, mut quick) = (Vec::new(), None, None, false);
    for line in text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim) {
        if let Some(number) = line.strip_prefix("promise:") {
            promise = Some(number.trim().parse().map_err(|_| format!("no promise is '{}'", number.trim()))?);
        } else if let Some(test) = line.strip_prefix("caught-by:") {
            caught_by = Some(test.trim().parse()?);
        } else if line == "quick" {
            quick = true;
        } else {
            what.push(line);
        }
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Defect {
        name,
        what: what.join(" "),
        promise: promise.ok_or("no line '# promise: …' at its head")?,
        caught_by: caught_by.ok_or("no line '# caught-by: …' at its head")?,
        quick,
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::scratch::workspace;

    #[test]
    fn the_head_says_what_it_is_and_the_rest_is_not_read() {
        let text = "# It is\n# wrong.\n# promise: 4\n# caught-by: schedulers/lib::a::b\n# quick\ndiff --git\n# promise: 5\n";
        let defect = parse(Path::new("some/defect.patch"), text).unwrap();
        assert_eq!((defect.name.as_str(), defect.what.as_str()), ("defect", "It is wrong."));
        assert_eq!((defect.promise, defect.quick), (4, true));
        assert_eq!(defect.caught_by.to_string(), "schedulers/lib::a::b");
        assert_eq!((defect.caught_by.library, defect.caught_by.program), ("schedulers", None));
    }

    #[test]
    fn a_head_that_leaves_something_out_is_an_error() {
        let parse = |text| parse(Path::new("a.patch"), text).unwrap_err();
        assert!(parse("# promise: 1\n").contains("caught-by"));
        assert!(parse("# caught-by: a::b\n").contains("promise"));
        assert!(parse("# promise: one\n").contains("'one'"));
        assert!(parse("# caught-by: wakers\n").contains("'wakers'"));
    }

    #[test]
    fn all_there_are_can_be_read_and_five_are_quick() {
        let defects = read_all(&workspace().join(FOLDER)).unwrap();
        assert!(defects.iter().all(|defect| (1..=16).contains(&defect.promise) && !defect.what.is_empty()));
        assert_eq!(defects.iter().filter(|defect| defect.quick).count(), 5);
    }

    #[test]
    fn all_of_them_apply() {
        for defect in read_all(&workspace().join(FOLDER)).unwrap() {
            let mut check = Command::new("git");
            check.args(["apply", "--check"]).arg(&defect.path).current_dir(workspace());
            assert!(check.status().unwrap().success(), "make '{}' anew", defect.path.display());
        }
    }
}
