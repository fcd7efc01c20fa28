//! A scratch copy of the workspace, to break something in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::trial::succeed;

/// Copies the workspace that this program was built from to `target/scratch/<name>`, and gives the copy's root. What an
/// earlier copy has built in its own `target/` stays.
pub(crate) fn copy(name: &str) -> anyhow::Result<PathBuf> {
    let from = workspace();
    let root = from.join("target/scratch").join(name);
    let files = sources(&from)?;
    for file in &files {
        copy_file(&from.join(file), &root.join(file))
            .with_context(|| format!("cannot copy '{}'", file.display()))?;
    }
    remove_others(&root, &root, &files).with_context(|| format!("cannot tidy up '{}'", root.display()))?;
    Ok(root)
}

/// The workspace that this program was built from.
pub(crate) fn workspace() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.parent().unwrap_or(crate_dir).to_path_buf()
}

/// Files that git tracks, and new ones that it does not ignore, relative to `root`.
pub(crate) fn sources(root: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let names = succeed(Command::new("git").args(list).current_dir(root))?;
    let names = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    Ok(names.filter(|name| root.join(name).is_file()).collect())
}

/// Removes the files in `folder` that are not among `files`, which are relative to `root`: those of an earlier copy, before
/// they were moved.
fn remove_others(folder: &Path, root: &Path, files: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.strip_prefix(root).unwrap_or(&path);
        if path.is_dir() {
            if name != Path::new("target") {
                remove_others(&path, root, files)?;
            }
        } else if !files.contains(name) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Copies a file whose contents differ, so that cargo sees no change where there is none.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let contents = fs::read(from)?;
    if fs::read(to).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_sources_and_a_change_in_it_is_undone_by_the_next() {
        let file = copy("test").unwrap().join("clockworker/src/task/inbox.rs");
        let original = fs::read_to_string(&file).unwrap();
        assert!(original.contains("struct Inbox"));
        fs::write(&file, "").unwrap();
        let moved = file.with_file_name("moved.rs");
        fs::write(&moved, "").unwrap();
        copy("test").unwrap();
        assert!(!moved.exists());
        assert_eq!(fs::read_to_string(&file).unwrap(), original);
    }
}
