//! The workspace's files.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All Rust files below, build output left out.
pub(super) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        let hidden = name.to_string_lossy().starts_with('.');
        if entry.file_type().expect("its type").is_dir() && !hidden && name != "target" {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether the file is the module, or the program, whose path ends so.
pub(super) fn is_module(file: &Path, name: &str) -> bool {
    let path = file.with_extension("");
    path.ends_with(name) || ["mod", "main"].iter().any(|root| path.ends_with(Path::new(name).join(root)))
}
