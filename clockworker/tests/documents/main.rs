//! Links in documents lead somewhere, and the folders of `src` import each other in one direction.

use std::fs;
use std::path::{Path, PathBuf};

mod imports;
mod links;

/// All files below a folder of this extension, but build output and what is hidden.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let seen = entries.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        !name.starts_with('.') && name != "target"
    });
    let found = seen.flat_map(|path| match path.is_dir() {
        true => files(&path, extension),
        false => Vec::from_iter(path.extension().is_some_and(|its| its == extension).then_some(path)),
    });
    found.collect()
}
