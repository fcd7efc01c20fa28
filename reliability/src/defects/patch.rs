//! A seeded defect: a patch, and at its head what it is and who must notice.
//!
//! ```text
//! # A push onto the inbox of a parked host wakes nobody.
//! # promise: 1
//! # caught-by: runs::host_wakes::wakes_and_spawns_from_other_threads_wake_a_sleeping_host_exactly_once_per_park
//! # quick
//! diff --git …
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::scratch::workspace;

/// Where the patches are, in the workspace.
const FOLDER: &str = "clockworker/tests/defects";

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

/// A test, named with its program: `program::module::test`, `schedulers/program::module::test`; and `lib::path::test` or
/// `schedulers/lib::path::test` for one beside the code.
#[derive(Clone, Debug)]
pub(super) struct TestName {
    pub(super) name: String,
    /// The library's folder in the workspace.
    pub(super) library: &'static str,
    /// What cargo is to be told to build.
    pub(super) target: String,
    /// Inside of its program.
    pub(super) path: String,
}

/// The folders of the two libraries.
pub(super) const LIBRARIES: [&str; 2] = ["clockworker", "schedulers"];

impl TestName {
    fn parse(name: &str) -> anyhow::Result<Self> {
        let (library, rest) = match name.strip_prefix("schedulers/") {
            Some(rest) => (LIBRARIES[1], rest),
            None => (LIBRARIES[0], name),
        };
        let (program, path) =
            rest.split_once("::").with_context(|| format!("'{name}' is not 'program::test'"))?;
        let target = if program == "lib" { "--lib".to_owned() } else { format!("--test={program}") };
        Ok(TestName { name: name.to_owned(), library, target, path: path.to_owned() })
    }
}

/// All defects there are, in order of their tests and names.
pub(super) fn read_all() -> anyhow::Result<Vec<Defect>> {
    let folder = workspace().join(FOLDER);
    let mut defects = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read '{}'", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let read = fs::read_to_string(&path).map_err(anyhow::Error::from);
            let defect = read.and_then(|text| parse(&path, &text));
            defects.push(defect.with_context(|| format!("'{}'", path.display()))?);
        }
    }
    defects.sort_by_key(|defect| (defect.caught_by.name.clone(), defect.name.clone()));
    Ok(defects)
}

fn parse(path: &Path, text: &str) -> anyhow::Result<Defect> {
    let (mut what, mut promise, mut caught_by, mut quick) = (Vec::new(), None, None, false);
    for line in text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim) {
        match line.split_once(": ") {
            Some(("promise", number)) => {
                promise = Some(number.parse().with_context(|| format!("no promise is '{number}'"))?);
            }
            Some(("caught-by", test)) => caught_by = Some(TestName::parse(test)?),
            _ if line == "quick" => quick = true,
            _ => what.push(line),
        }
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Defect {
        name,
        what: what.join(" "),
        promise: promise.context("no line '# promise: …' at its head")?,
        caught_by: caught_by.context("no line '# caught-by: …' at its head")?,
        quick,
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::succeed;
    use std::process::Command;

    #[test]
    fn the_head_says_what_it_is_and_the_rest_is_not_read() {
        let text = "# It is\n# wrong.\n# promise: 4\n# caught-by: schedulers/lib::a::b\n# quick\ndiff --git\n# promise: 5\n";
        let defect = parse(Path::new("some/defect.patch"), text).unwrap();
        assert_eq!((defect.name.as_str(), defect.what.as_str()), ("defect", "It is wrong."));
        assert_eq!((defect.promise, defect.quick), (4, true));
        let TestName { library, target, path, .. } = &defect.caught_by;
        assert_eq!((*library, target.as_str(), path.as_str()), ("schedulers", "--lib", "a::b"));
    }

    #[test]
    fn a_head_that_leaves_something_out_is_an_error() {
        let parse = |text| format!("{:#}", parse(Path::new("a.patch"), text).unwrap_err());
        assert!(parse("# promise: 1\n").contains("caught-by"));
        assert!(parse("# caught-by: a::b\n").contains("promise"));
        assert!(parse("# promise: one\n").contains("'one'"));
        assert!(parse("# caught-by: wakers\n").contains("'wakers'"));
    }

    #[test]
    fn all_there_are_apply_and_five_are_quick() {
        let defects = read_all().unwrap();
        for defect in &defects {
            assert!((1..=16).contains(&defect.promise) && !defect.what.is_empty(), "{}", defect.name);
            let mut check = Command::new("git");
            check.args(["apply", "--check"]).arg(&defect.path).current_dir(workspace());
            succeed(&mut check).unwrap();
        }
        assert_eq!(defects.iter().filter(|defect| defect.quick).count(), 5);
    }
}
