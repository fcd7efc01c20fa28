//! The command `docs`: writes the tables of the project's documents from the committed files of results.
//!
//! A document says which table it wants in a comment of Markdown ([`block`]), as TOML ([`table`]). What stands between that
//! comment and `<!-- /docs -->` is this program's. CI runs `docs --check`, so no document shows other numbers than the files.

pub mod block;
pub mod results;
pub mod table;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::report::document::files_in;
use crate::terminal;
use crate::whole_file::WholeFile;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Documents in Markdown
    #[arg(value_name = "FILES", default_values = ["README.md", "OVERHEAD.md", "docs/LATENCY.md"])]
    pub documents: Vec<PathBuf>,

    /// The folder of the files of results, as measurements write them with --json
    #[arg(long, value_name = "FOLDER", default_value = "benches/results")]
    pub results: PathBuf,

    /// Write nothing, and fail if a document shows other numbers than the files of results
    #[arg(long)]
    pub check: bool,
}

pub fn command(options: &Options) -> Result<(), Failure> {
    let files = files_in(&options.results)?;
    let mut stale = Vec::new();
    for document in &options.documents {
        let name = document.display();
        let unreadable = |error| Failure::request(format!("cannot read '{name}': {error}"));
        let text = fs::read_to_string(document).map_err(unreadable)?;
        let written = block::rewrite(&text, |table| results::table(&files, table))
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
