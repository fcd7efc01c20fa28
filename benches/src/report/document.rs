//! A file of results, as a scenario has written it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::read;
use crate::failure::Failure;

#[derive(Clone, Debug)]
pub struct Document {
    pub name: String,
    pub schema: String,
    /// On what it was measured. Empty where nothing was measured.
    pub facts: BTreeMap<String, String>,
    body: Value,
}

const UNKNOWN: &str = "unknown";

#[derive(Debug, Deserialize)]
struct Head {
    schema: String,
    schema_version: u32,
    #[serde(default)]
    facts: Map<String, Value>,
}

impl Document {
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error.to_string()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Document::parse(name, &text).map_err(|reason| unreadable(path, &reason))
    }

    pub fn parse(name: String, text: &str) -> Result<Self, String> {
        let body: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let head = Head::deserialize(&body).map_err(|error| format!("not a file of results: {error}"))?;
        if let Some(reader) =
            read::reader(&head.schema).filter(|reader| reader.version != head.schema_version)
        {
            let (found, read) = (head.schema_version, reader.version);
            return Err(format!("its form has version {found}, this program reads {read}"));
        }
        let plain = |value| match value {
            Value::Null => UNKNOWN.to_owned(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        let facts = head.facts.into_iter().map(|(fact, value)| (fact, plain(value))).collect();
        Ok(Document { name, schema: head.schema, facts, body })
    }

    pub fn fact(&self, key: &str) -> &str {
        self.facts.get(key).map_or(UNKNOWN, String::as_str)
    }

    pub fn content<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(&self.body)
            .map_err(|error| Failure::request(format!("cannot read '{}': {error}", self.name)))
    }
}

fn unreadable(path: &Path, reason: &str) -> Failure {
    Failure::request(format!("cannot read '{}': {reason}", path.display()))
}

/// The files of results in a folder, by name. Other files are left alone.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_results = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "json");
    Ok(entries(folder)?.into_iter().filter(|entry| entry.is_file() && is_results(entry)).collect())
}

/// The folders in a folder, by name.
pub fn folders_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(entries(folder)?.into_iter().filter(|entry| entry.is_dir()).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| unreadable(folder, &error.to_string());
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(unreadable)?.collect();
    let mut paths: Vec<PathBuf> =
        entries.map_err(unreadable)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, String> {
        Document::parse("a.json".to_owned(), text)
    }

    #[test]
    fn a_file_says_what_it_is_and_on_what_it_was_measured() {
        let text = r#"{"schema":"x","schema_version":1,"facts":{"cpu":"Z80","cores":2,"steal":null}}"#;
        let document = parse(text).unwrap();
        assert_eq!(document.schema, "x");
        let facts = ["cores", "cpu", "steal", "host"].map(|fact| document.fact(fact));
        assert_eq!(facts, ["2", "Z80", "unknown", "unknown"]);
    }

    #[test]
    fn what_is_no_file_of_results_is_refused() {
        assert!(parse("{").unwrap_err().contains("EOF"));
        assert!(parse("{}").unwrap_err().contains("not a file of results: missing field `schema`"));
        let newer = parse(r#"{"schema":"clockworker-compare","schema_version":3}"#).unwrap_err();
        assert_eq!(newer, "its form has version 3, this program reads 2");
    }

    #[test]
    fn a_known_file_with_something_missing_is_refused_by_name() {
        let document = parse(r#"{"schema":"clockworker-compare","schema_version":2}"#).unwrap();
        let reader = read::reader(&document.schema).unwrap();
        let failure = (reader.read)(&document).unwrap_err().to_string();
        assert!(failure.starts_with("cannot read 'a.json': missing field"), "{failure}");
    }
}
