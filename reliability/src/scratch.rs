//! A scratch copy of the workspace, to break something in it and see which test notices.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::failure::Failure;

/// A copy of what git tracks, in `target/`. Made anew each time; its own `target/` stays for the next time.
#[derive(Debug)]
pub struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Copies the workspace that this program was built from to `target/scratch/<name>`.
    pub fn copy(name: &str) -> Result<Self, Failure> {
        let from = workspace();
        let root = from.join("target/scratch").join(name);
        for file in tracked(&from)? {
            copy_file(&from.join(&file), &root.join(&file))?;
        }
        Ok(Scratch { root })
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file in it.
    pub fn read(&self, file: &str) -> Result<String, Failure> {
        let path = self.root.join(file);
        fs::read_to_string(&path)
            .map_err(|error| Failure::run(format!("cannot read '{}': {error}", path.display())))
    }

    /// Replaces a file in it.
    pub fn write(&self, file: &str, text: &str) -> Result<(), Failure> {
        let path = self.root.join(file);
        fs::write(&path, text)
            .map_err(|error| Failure::run(format!("cannot write '{}': {error}", path.display())))
    }

    /// Runs cargo in it, with its own target folder.
    pub fn cargo(&self, args: &[&str], environment: &[(&str, &str)]) -> Result<Output, Failure> {
        Command::new(env!("CARGO"))
            .args(args)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            .envs(environment.iter().copied())
            .output()
            .map_err(|error| Failure::run(format!("cannot run cargo: {error}")))
    }
}

/// The workspace that this program was built from.
pub fn workspace() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.parent().unwrap_or(crate_dir).to_path_buf()
}

/// Files that git tracks, and new ones that it does not ignore.
fn tracked(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| Failure::run(format!("cannot run git: {error}")))?;
    if !listed.status.success() {
        return Err(Failure::run(format!(
            "git ls-files failed: {}",
            String::from_utf8_lossy(&listed.stderr).trim()
        )));
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|name| root.join(name).is_file())
        .collect())
}

/// Copies a file whose contents differ, so that cargo sees no change where there is none.
fn copy_file(from: &Path, to: &Path) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::run(format!("cannot copy '{}': {error}", from.display()));
    let contents = fs::read(from).map_err(wrong)?;
    if fs::read(to).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    fs::write(to, contents).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_sources_and_a_change_in_it_is_undone_by_the_next() {
        let scratch = Scratch::copy("test").unwrap();
        let original = scratch.read("clockworker/src/task/inbox.rs").unwrap();
        assert!(original.contains("struct Inbox"));
        scratch.write("clockworker/src/task/inbox.rs", "").unwrap();
        assert_eq!(Scratch::copy("test").unwrap().read("clockworker/src/task/inbox.rs").unwrap(), original);
    }
}
