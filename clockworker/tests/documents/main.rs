//! Links in documents lead somewhere, quoted results are not older than they say, and the folders of `src` import each other in one
//! direction.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

// ---- Every relative link in a document leads to a file, and to a heading of it

/// The text of a document but for its code blocks, in which brackets are not links.
fn text_of(document: &Path) -> String {
    fs::read_to_string(document).unwrap().split("```").step_by(2).collect()
}

/// As GitHub names a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Whether the link of a document leads somewhere. Those to other sites are not followed.
fn leads_somewhere(document: &Path, link: &str) -> bool {
    if link.contains("://") {
        return true;
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { document.to_owned() } else { document.with_file_name(file) };
    if heading.is_empty() || target.extension().is_none_or(|extension| extension != "md") {
        return target.exists();
    }
    let is_it = |line: &str| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading;
    target.is_file() && text_of(&target).lines().any(is_it)
}

#[test]
fn every_link_leads_somewhere() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = files(&workspace, "md");
    let broken: Vec<String> = documents
        .iter()
        .flat_map(|document| {
            let text = text_of(document);
            let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            let broken = links.filter(|link| !leads_somewhere(document, link));
            broken.map(|link| format!("{}: {link}", document.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(documents.len() > 10, "{} documents", documents.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

// ---- A quoted result is of the libraries as they are, or the document says as of when it is

/// The folders whose hashes a result names. None where this is no checkout of git.
fn hashes(workspace: &Path) -> Option<[String; 2]> {
    let hash = |folder: &str| {
        let spec = format!("HEAD:{folder}/src");
        let git =
            Command::new("git").args(["rev-parse", "--short=12", &spec]).current_dir(workspace).output();
        git.ok()
            .filter(|git| git.status.success())
            .map(|git| String::from_utf8_lossy(&git.stdout).trim().to_owned())
    };
    Some([hash("clockworker")?, hash("schedulers")?])
}

#[test]
fn a_quoted_result_is_of_today_or_its_document_says_as_of() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Some(hashes) = hashes(&workspace) else { return };
    let results = workspace.join("benches/results");
    let is_old = |link: &str| {
        let result = link.rsplit_once("benches/results/").map(|(_, name)| results.join(name));
        let text = result.and_then(|result| fs::read_to_string(result).ok());
        text.is_some_and(|text| !hashes.iter().all(|hash| text.contains(hash.as_str())))
    };
    let mut documents = files(&workspace, "md");
    documents.retain(|document| !document.starts_with(&results));
    for document in documents {
        for section in text_of(&document).split("\n## ") {
            let links = section.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '#']).next());
            let old: Vec<&str> = links.filter(|link| is_old(link)).collect();
            let says_so = section.to_lowercase().contains("as of");
            assert!(
                old.is_empty() || says_so,
                "{}: {old:?} are older, and nothing says so",
                document.display()
            );
        }
    }
}

// ---- Each folder of `src` imports only from those before it

/// The folders, each after those that it may import from. Files that are in no folder are what a user holds.
const ORDER: [&str; 8] = ["sync", "base", "task", "queue", "run", "host", USER, "compat"];
const USER: &str = "files in no folder";

/// Files and folders that may import anything: the root, tests and models.
const EXEMPT: [&str; 5] = ["lib.rs", "tests.rs", "records/limits.rs", "scenes.rs", "models"];

#[test]
fn folders_import_only_from_those_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = files(&src, "rs");
    files.retain(|file| {
        !EXEMPT.iter().any(|exempt| file.ends_with(exempt) || file.parent().unwrap().ends_with(exempt))
    });
    let upward: Vec<String> = files.iter().flat_map(|file| upward_imports(&src, file)).collect();
    assert!(files.len() > 50, "{} files", files.len());
    assert!(upward.is_empty(), "imports of what comes later in {ORDER:?}:\n{}", upward.join("\n"));
}

fn upward_imports(src: &Path, file: &Path) -> Vec<String> {
    let name = file.strip_prefix(src).unwrap();
    let folder = name.parent().unwrap().iter().next().map_or(USER, |folder| folder.to_str().unwrap());
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(all(test").next().unwrap().lines();
    let imports = code.filter(|line| !line.trim_start().starts_with("//")).flat_map(imported);
    let upward = imports.filter(|module| rank(module) > rank(folder));
    upward.map(|module| format!("{} imports {module}", name.display())).collect()
}

/// The modules that a line names by `crate::`.
fn imported(line: &str) -> impl Iterator<Item = &str> {
    let ends_name = |c: char| !c.is_ascii_lowercase() && c != '_';
    line.split("crate::").skip(1).filter_map(move |rest| rest.split(ends_name).next())
}

fn rank(module: &str) -> usize {
    let user = ORDER.iter().position(|&name| name == USER).unwrap();
    ORDER.iter().position(|&name| name == module).unwrap_or(user)
}
