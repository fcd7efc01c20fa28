//! The facts of the machine, for all files together.

use super::document::Document;
use crate::page::Table;

/// The facts shown, with their names for people.
const FACTS: [(&str, &str); 14] = [
    ("date", "date"),
    ("revision", "revision"),
    ("profile", "build"),
    ("cpu", "processor"),
    ("cores", "cores"),
    ("kernel", "kernel"),
    ("clock_source", "clock source"),
    ("pinning", "pinning"),
    ("host", "host"),
    ("rustc", "compiler"),
    ("tokio", "tokio"),
    ("spin_clock", "CPU work in"),
    ("load_before", "load average before the run"),
    ("steal", "part of CPU time stolen by the hypervisor"),
];

pub fn tables(documents: &[Document]) -> Vec<Table> {
    let measured: Vec<&Document> = documents.iter().filter(|document| !document.facts.is_empty()).collect();
    if measured.is_empty() {
        return Vec::new();
    }
    let mut common = Table::new("The same for all runs", ["fact", "value"]).with_words(2);
    let names = measured.iter().map(|document| document.name.as_str());
    let mut different = Table::new("Different by run", ["fact"].into_iter().chain(names));
    different.words = different.columns.len();
    for (key, name) in FACTS {
        let values: Vec<&str> = measured.iter().map(|document| document.fact(key)).collect();
        if values.iter().all(|value| value == &values[0]) {
            common.rows.push(vec![name.to_owned(), values[0].to_owned()]);
        } else {
            different.rows.push([name].into_iter().chain(values).map(str::to_owned).collect());
        }
    }
    [common, different].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(facts: &str) -> Document {
        let text = format!(r#"{{"schema":"x","schema_version":1,"facts":{facts}}}"#);
        Document::parse("a.json".to_owned(), &text).unwrap()
    }

    #[test]
    fn what_is_the_same_is_said_once() {
        let facts = [r#"{"cpu":"Z80","date":"today"}"#, r#"{"cpu":"Z80","date":"tomorrow"}"#, "{}"];
        let documents = facts.map(document);
        let [common, different] = <[Table; 2]>::try_from(tables(&documents)).unwrap();
        assert!(common.rows.contains(&vec!["processor".to_owned(), "Z80".to_owned()]));
        assert_eq!(different.rows, [["date", "today", "tomorrow"]]);
        assert_eq!(different.columns.len(), 3, "a file without facts has no column");
        assert!(tables(&[document("{}")]).is_empty());
    }
}
