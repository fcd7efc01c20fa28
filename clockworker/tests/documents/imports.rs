//! Imports between the folders of `src` point one way: each folder imports only from those before it.

use std::fs;
use std::path::Path;

/// The folders, each after those that it may import from. Files that are in no folder are what a user holds.
const ORDER: [&str; 9] = ["sync", "base", "task", "observe", "queue", "run", "host", USER, "compat"];
const USER: &str = "files in no folder";

/// Files and folders of tests and models, which may import anything.
const TESTS: [&str; 4] = ["tests.rs", "records/limits.rs", "scenes.rs", "models"];

#[test]
fn folders_import_only_from_those_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = super::files(&src, "rs");
    files.retain(|file| {
        !TESTS.iter().any(|tests| file.ends_with(tests) || file.parent().unwrap().ends_with(tests))
    });
    let upward: Vec<String> = files.iter().flat_map(|file| upward_imports(&src, file)).collect();
    assert!(files.len() > 50, "{} files", files.len());
    assert!(upward.is_empty(), "imports of what comes later in {ORDER:?}:\n{}", upward.join("\n"));
}

fn upward_imports(src: &Path, file: &Path) -> Vec<String> {
    let name = file.strip_prefix(src).unwrap();
    let folder = name.parent().unwrap().iter().next().map_or(USER, |folder| folder.to_str().unwrap());
    if name == Path::new("lib.rs") || folder.ends_with(".md") {
        return Vec::new();
    }
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(all(test").next().unwrap().lines();
    let imports = code.filter(|line| !line.trim_start().starts_with("//")).flat_map(imported);
    let upward = imports.filter(|module| rank(module) > rank(folder));
    upward.map(|module| format!("{} imports {module}", name.display())).collect()
}

/// The modules that a line names by `crate::`.
fn imported(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

fn rank(module: &str) -> usize {
    let user = ORDER.iter().position(|&name| name == USER).unwrap();
    ORDER.iter().position(|&name| name == module).unwrap_or(user)
}
