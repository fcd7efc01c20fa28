//! The command `report`: the files of all measurements as one page, which says first what it costs and what you gain.
//!
//! Files become chapters ([`read`] knows every kind of file), and chapters a [`Page`]. What no file has been given for is left
//! out, with a line that says how to get it.

pub mod collect;
pub mod document;
pub mod read;

pub mod facts;
pub mod shares;
pub mod simulate;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::harness::{heading, target};
use crate::page::{Page, Side, html, markdown};
use crate::terminal;
use crate::whole_file::WholeFile;

use document::Document;
use read::{READERS, Reader};

#[derive(Args, Clone, Debug)]
#[command(after_long_help = AFTER_HELP)]
pub struct Options {
    /// Run every scenario first, one after the other: one to two hours, or seconds with --quick
    #[arg(long, conflicts_with = "from")]
    pub run: bool,

    /// With --run, runs of seconds: shows that everything works, measures nothing
    #[arg(long, requires = "run")]
    pub quick: bool,

    /// With --run, where every random choice starts
    #[arg(long, value_name = "N", default_value_t = 1, requires = "run")]
    pub seed: u64,

    /// Files of results, as scenarios write them with --json, or folders of such files [default: report in the target folder]
    #[arg(long, value_name = "PATHS", num_args = 1..)]
    pub from: Vec<PathBuf>,

    /// The page [default: report/report.html in the target folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write the numbers and tables to FILE as Markdown, too
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Without --run and --from, the files that the last `report --run` left in the target folder are collected, and the newest
result that `overhead` left there if those have none.

  report --run --quick                    everything, in seconds: not a measurement
  report --from compare.json tcp.json     what was measured by hand
  report --from results/ --markdown docs.md";

pub fn command(options: &Options) -> Result<(), Failure> {
    let folder = target::folder("report");
    if options.out.is_none() {
        fs::create_dir_all(&folder).map_err(|error| Failure::unwritable(&folder, error.kind()))?;
    }
    let place = options.out.clone().unwrap_or_else(|| folder.join("report.html"));
    let html = WholeFile::at(&place)?;
    let markdown = options.markdown.as_deref().map(WholeFile::at).transpose()?;
    let page = page_of(collect::documents(options)?)?;
    html.write(|out| out.write_all(html::write(&page).as_bytes()))?;
    if let Some(markdown) = markdown {
        markdown.write(|out| out.write_all(markdown::write(&page).as_bytes()))?;
    }
    terminal::print_text(&format!("{}\n'{}'\n", page.summary(), place.display()))
}

/// The page of these files: in the order of the scenarios, and files of one scenario in the order given.
fn page_of(mut documents: Vec<Document>) -> Result<Page, Failure> {
    let place = |document: &Document| READERS.iter().position(|reader| reader.schema == document.schema);
    documents.sort_by_key(|document| place(document).unwrap_or(READERS.len()));
    let mut page = Page { facts: facts::tables(&documents), ..Page::default() };
    for document in &documents {
        let Document { name, schema, .. } = document;
        match read::reader(schema) {
            Some(reader) => page.add((reader.read)(document)?, name),
            None => {
                page.left_out.push(format!("{name}: this program does not know files of kind '{schema}'"));
            }
        }
    }
    let there = |reader: &Reader| documents.iter().any(|document| document.schema == reader.schema);
    let absent = READERS.iter().filter(|reader| !there(reader));
    let with_command =
        |reader: &Reader| (reader.question.to_owned(), heading::command(&reader.arguments.join(" ")));
    page.missing = absent.map(with_command).collect();
    page.add(shares::chapter(), "");
    // Losses beside gains: the order inside a card is that of the scenarios.
    page.headlines.sort_by_key(|line| line.side == Side::Gain);
    Ok(page)
}
