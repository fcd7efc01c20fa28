//! Every relative link in a document leads to a file, and to a heading of it.

use std::fs;
use std::path::Path;

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
    let documents = super::files(&workspace, "md");
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
