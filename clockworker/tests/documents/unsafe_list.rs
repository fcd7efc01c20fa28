//! UNSAFE.md against the sources of the workspace: that every `unsafe` is listed, and that nothing is listed that is gone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::files::{is_module, rust_files, workspace};

/// The uses of `unsafe` in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    blocks: usize,
    functions: usize,
    impls: usize,
    /// Blocks that declare functions of other languages.
    externs: usize,
    /// Unsafe traits and attributes. There is no column for them: there are none.
    other: usize,
}

impl Uses {
    fn any(&self) -> bool {
        *self != Uses::default()
    }

    /// As the table has them.
    fn cells(&self) -> String {
        assert_eq!(self.other, 0, "UNSAFE.md has no column for what this is: add one");
        format!("{} | {} | {} | {}", self.blocks, self.functions, self.impls, self.externs)
    }
}

/// What `unsafe` is found before, given the tokens after it.
fn count(tokens: TokenStream, uses: &mut Uses) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => count(group.stream(), uses),
            TokenTree::Ident(word) if word == "unsafe" => classify(&tokens[at + 1..], uses),
            _ => {}
        }
    }
}

fn is_braces(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

fn classify(after: &[TokenTree], uses: &mut Uses) {
    let is = |at: usize, word: &str| matches!(after.get(at), Some(TokenTree::Ident(ident)) if ident == word);
    // The ABI, if there is one: `extern "C"`.
    let at = if is(0, "extern") { 2 } else { 0 };
    match after.first() {
        Some(_) if is_braces(after.first()) => uses.blocks += 1,
        Some(_) if is(0, "impl") => uses.impls += 1,
        Some(_) if is_braces(after.get(at)) && at > 0 => uses.externs += 1,
        // A function with a name, or the type of a pointer to one: that is not a use.
        Some(_) if is(at, "fn") => {
            uses.functions += usize::from(matches!(after.get(at + 1), Some(TokenTree::Ident(_))));
        }
        _ => uses.other += 1,
    }
}

fn uses_in(source: &str) -> Uses {
    let mut uses = Uses::default();
    // Most files do without the word, and reading all of them takes its time.
    if source.contains("unsafe") {
        count(source.parse().expect("Rust"), &mut uses);
    }
    uses
}

/// Each file with `unsafe` in it, by its path in the workspace.
fn in_sources() -> BTreeMap<String, Uses> {
    let root = workspace();
    let files = rust_files(&root);
    assert!(files.len() > 100, "it reads {} files: is it the workspace?", files.len());
    let relative =
        |path: &Path| path.strip_prefix(&root).expect("inside").to_string_lossy().replace('\\', "/");
    let counted = |path: &PathBuf| (relative(path), uses_in(&fs::read_to_string(path).expect("a source")));
    files.iter().map(counted).filter(|(_, uses)| uses.any()).collect()
}

/// The rows of its tables, by file: what comes after the name.
fn in_list() -> BTreeMap<String, Vec<String>> {
    let list = fs::read_to_string(workspace().join("UNSAFE.md")).expect("UNSAFE.md");
    let row = |line: &str| {
        let mut cells = line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let file = cells.next()?.strip_prefix('`')?.strip_suffix("`")?.to_owned();
        Some((file, cells.collect()))
    };
    list.lines().filter(|line| line.starts_with("| `")).filter_map(row).collect()
}

#[test]
fn every_use_of_unsafe_is_listed() {
    let (mut listed, found) = (in_list(), in_sources());
    let mut wrong = Vec::new();
    for (file, uses) in &found {
        let cells = uses.cells();
        match listed.remove(file) {
            Some(row) if row.len() == 6 && row[..4].join(" | ") == cells => {}
            Some(_) => wrong.push(format!("should have the numbers: | `{file}` | {cells} |")),
            None => wrong.push(format!("is missing: | `{file}` | {cells} | relies on … | covered by … |")),
        }
    }
    wrong.extend(listed.keys().map(|file| format!("is listed, and has no unsafe: {file}")));
    assert!(wrong.is_empty(), "UNSAFE.md:\n{}", wrong.join("\n"));
    assert!(found.contains_key("clockworker/src/task/cell.rs"), "there is some");
}

#[test]
fn every_row_says_what_it_relies_on_and_is_covered_by_tests_that_exist() {
    let modules = rust_files(&workspace().join("clockworker/tests"));
    for (file, row) in in_list() {
        let [.., relies_on, covered_by] = &row[..] else { panic!("{file} has no such columns") };
        assert!(!relies_on.is_empty(), "{file} relies on nothing?");
        assert!(!covered_by.is_empty(), "{file} is covered by nothing?");
        // A name without a path is a module of this crate's tests.
        let tests = covered_by.split('`').skip(1).step_by(2).filter(|name| !name.contains(['/', ' ']));
        for name in tests {
            assert!(
                modules.iter().any(|path| is_module(path, name)),
                "{file} is covered by '{name}', which does not exist"
            );
        }
    }
}

/// Whether the file of the library is built for its tests only.
fn is_test(file: &str) -> bool {
    file.contains("/modelled/") || file.contains("/models/") || file.ends_with("/tests.rs")
}

#[test]
fn the_totals_that_it_gives_are_right() {
    let list = fs::read_to_string(workspace().join("UNSAFE.md")).expect("UNSAFE.md");
    let sum = |of: fn(&Uses) -> usize| -> usize {
        in_sources()
            .iter()
            .filter(|(file, _)| file.starts_with("clockworker/src/") && !is_test(file))
            .map(|(_, uses)| of(uses))
            .sum()
    };
    let total = format!(
        "**{} blocks, {} functions, {} impls, {} extern block**",
        sum(|uses| uses.blocks),
        sum(|uses| uses.functions),
        sum(|uses| uses.impls),
        sum(|uses| uses.externs)
    );
    assert!(list.contains(&total), "UNSAFE.md should say {total}");
    assert!(in_sources().keys().all(|file| !file.starts_with("schedulers/")), "the policies have none");
}

#[test]
fn comments_strings_and_pointer_types_are_not_uses() {
    let source = r##"
        //! unsafe { }
        const TEXT: &str = "unsafe impl";
        struct Table { call: unsafe fn(u8), other: unsafe extern "C" fn() }
        unsafe fn one() { let _ = unsafe { 1 }; /* unsafe { } */ }
        unsafe extern "C" fn two() {}
        unsafe impl Send for Table {}
        unsafe extern "C" { safe fn three(); }
        macro_rules! hidden { () => { unsafe { 2 } } }
    "##;
    assert_eq!(uses_in(source), Uses { blocks: 2, functions: 2, impls: 1, externs: 1, other: 0 });
    assert_eq!(uses_in("#[unsafe(no_mangle)] fn three() {} unsafe trait T {}").other, 2);
}
