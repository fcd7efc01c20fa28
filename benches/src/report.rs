//! The command `report`: the files of all measurements as one page, which says first what it costs and what you gain.
//!
//! Files become chapters ([`read`] knows every kind of file), and chapters a [`Page`]. What no file has been given for is left
//! out, with a line that says how to get it.

pub mod collect;
pub mod document;
pub mod options;
pub mod read;

pub mod facts;
pub mod shares;
pub mod simulate;

use std::fs;

use crate::failure::Failure;
use crate::harness::heading;
use crate::page::headline::Side;
use crate::page::{Page, html, markdown};
use crate::terminal;
use crate::whole_file::WholeFile;

use document::Document;
use options::Options;
use read::{READERS, Reader};

pub fn command(options: &Options) -> Result<(), Failure> {
    let folder = Options::folder();
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
