//! The command `docs`: writes the tables of the project's documents from the committed files of results.
//!
//! A document says which table it wants in a comment of Markdown, as TOML ([`table`]). What stands between that
//! comment and `<!-- /docs -->` is this program's. CI runs `docs --check`, so no document shows other numbers than the files.

pub mod results;
pub mod table;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::terminal;
use crate::whole_file::WholeFile;

use results::Files;
use table::Table;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Documents in Markdown
    #[arg(value_name = "FILES", default_values = ["README.md", "OVERHEAD.md", "docs/LATENCY.md", "docs/WORKLOADS.md"])]
    pub documents: Vec<PathBuf>,

    /// The folder of the files of results, as measurements write them with --json; in it one for each other machine
    #[arg(long, value_name = "FOLDER", default_value = "benches/results")]
    pub results: PathBuf,

    /// Write nothing, and fail if a document shows other numbers than the files of results
    #[arg(long)]
    pub check: bool,
}

pub fn command(options: &Options) -> Result<(), Failure> {
    let files = Files::of(&options.results)?;
    let mut stale = Vec::new();
    for document in &options.documents {
        let name = document.display();
        let unreadable = |error| Failure::request(format!("cannot read '{name}': {error}"));
        let text = fs::read_to_string(document).map_err(unreadable)?;
        let written = rewrite(&text, |table| results::table(&files, table))
            .map_err(|problem| Failure::request(format!("{name}, {problem}")))?;
        match (written == text, options.check) {
            (true, _) => {}
            (false, true) => stale.push(format!("'{name}', line {}", first_difference(&text, &written))),
            (false, false) => {
                WholeFile::at(document)?.write(|out| out.write_all(written.as_bytes()))?;
                terminal::print_text(&format!("'{name}'\n"))?;
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    let (files, stale) = (options.results.display(), stale.join("; "));
    Err(Failure::run(format!(
        "not as the files in '{files}' have it, so run `docs` without --check: {stale}"
    )))
}

/// The number of the first line that differs.
fn first_difference(one: &str, other: &str) -> usize {
    1 + one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count()
}

/// What a comment begins with that says which table is wanted.
const OPEN: &str = "<!-- docs\n";
const CLOSE: &str = "\n-->\n";
const END: &str = "<!-- /docs -->";

/// The text with every block's table as `render` has it.
fn rewrite(text: &str, render: impl Fn(&Table) -> Result<String, String>) -> Result<String, String> {
    let mut written = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPEN) {
        let (before, block) = rest.split_at(start);
        written += before;
        let line = 1 + text[..text.len() - block.len()].lines().count();
        let at = |problem: String| format!("line {line}: {problem}");
        let (comment, after) =
            block.split_once(CLOSE).ok_or_else(|| at("the comment has no end".to_owned()))?;
        // A block without an end would take the next one's, and what is between.
        let end = after.find(END).filter(|&end| !after[..end].contains(OPEN));
        let end = end.ok_or_else(|| at(format!("there is no '{END}' behind it")))?;
        let table = toml::from_str(&comment[OPEN.len()..]).map_err(|error| at(error.to_string()))?;
        written += &format!("{comment}{CLOSE}\n{}\n", render(&table).map_err(at)?);
        rest = &after[end..];
    }
    Ok(written + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "# Title\n\n<!-- docs\ncorner = \"a\"\n-->\nold\n<!-- /docs -->\nmore\n";

    #[test]
    fn a_block_that_is_not_one_is_refused_by_its_line() {
        let refused = |text: &str| rewrite(text, |_| Err("nothing there".to_owned())).unwrap_err();
        let cases = [
            (BLOCK.to_owned(), "line 3: nothing there"),
            (BLOCK.replace("/docs", "docs"), "line 3: there is no '<!-- /docs -->' behind it"),
            (BLOCK.replace("-->\nold", "old"), "line 3: the comment has no end"),
            (BLOCK.replace("corner", "koner"), "unknown field `koner`"),
        ];
        for (text, wanted) in cases {
            let line = refused(&text);
            assert!(line.contains(wanted), "{line}");
        }
        let two = BLOCK.replace("<!-- /docs -->", "") + BLOCK;
        assert!(refused(&two).starts_with("line 3: there is no"));
    }
}
