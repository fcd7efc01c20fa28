//! The command `report`: the files of all scenarios as one page, which says first what it costs and what you gain.
//!
//! Files become chapters ([`read`] has one file for each scenario), chapters a [`Page`], and that becomes HTML and Markdown.
//! What no file has been given for is left out, with a line that says how to get it.

pub mod collect;
pub mod document;
pub mod facts;
pub mod options;
pub mod read;

pub mod axis;
pub mod headline;
pub mod model;
pub mod plot;
pub mod shares;

pub mod draw;
pub mod html;
pub mod markdown;
pub mod text;

use std::fs;
use std::io::Write;

use crate::failure::Failure;
use crate::terminal;
use crate::whole_file::{self, WholeFile};

use document::{Document, Read};
use headline::{Headline, Side};
use model::{Section, Table};
use options::Options;
use read::{READERS, Reader};

/// How the lines of the first screen are to be read.
const WHAT_IT_IS: &str = "Each line names the part of clockworker-benches that measured it: \
     cargo run --release -p clockworker-benches -- NAME. Ratios are medians of pairs measured in the same round; intervals \
     are of 95 %, or the range of repetitions where it says so; “better” and “worse” mean that \
     the whole interval is on that side of 1, “even” that 1 is inside it.";

/// Everything on the page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Why numbers mean nothing, if they do not, and in which files.
    pub notes: Vec<(String, Vec<String>)>,
    /// The first screen.
    pub headlines: Vec<Headline>,
    /// What follows.
    pub sections: Vec<Section>,
    /// The facts of the machine.
    pub facts: Vec<Table>,
    /// Questions without an answer, and what to run for one.
    pub missing: Vec<(String, String)>,
    /// Files without a place, and why.
    pub left_out: Vec<String>,
}

/// Carries out `report`.
///
/// # Errors
///
/// If there is nothing to report, a file cannot be read or written, or a run fails.
pub fn command(options: &Options) -> Result<(), Failure> {
    whole_file::clean_up_on_interrupt()?;
    let place = options.page();
    if options.out.is_none() {
        let folder = Options::folder();
        fs::create_dir_all(&folder).map_err(|error| Failure::unwritable(&folder, error.kind()))?;
    }
    let html = WholeFile::create(&place)?;
    let markdown = options.markdown.as_deref().map(WholeFile::create).transpose()?;
    let page = Page::of(&collect::documents(options)?)?;
    html.commit(|out| out.write_all(html::write(&page).as_bytes()))?;
    if let Some(markdown) = markdown {
        markdown.commit(|out| out.write_all(markdown::write(&page).as_bytes()))?;
    }
    terminal::print_text(&format!("{}\n'{}'\n", page.summary(), place.display()))
}

impl Page {
    /// The page of these files: in the order of the scenarios, and files of one scenario in the order given.
    ///
    /// # Errors
    ///
    /// If something is missing in a file that files of its kind have.
    pub fn of(documents: &[Document]) -> Result<Self, Failure> {
        let place = |document: &Document| READERS.iter().position(|reader| reader.schema == document.schema);
        let mut documents: Vec<&Document> = documents.iter().collect();
        documents.sort_by_key(|document| place(document).unwrap_or(READERS.len()));
        let mut page = Page { facts: facts::tables(&documents), ..Page::default() };
        documents.iter().try_for_each(|document| page.add(document))?;
        let there = |reader: &Reader| documents.iter().any(|document| document.schema == reader.schema);
        let absent = READERS.iter().filter(|reader| !there(reader));
        page.missing = absent.map(|reader| (reader.question.to_owned(), reader.command())).collect();
        let shares = shares::chapter();
        page.headlines.extend(shares.headlines);
        page.sections.extend(shares.sections);
        // Losses beside gains: the order inside a card is that of the scenarios.
        page.headlines.sort_by_key(|line| line.side == Side::Gain);
        Ok(page)
    }

    fn add(&mut self, document: &Document) -> Result<(), Failure> {
        match document.read()? {
            Read::LeftOut(reason) => self.left_out.push(reason),
            Read::Chapter(chapter) => {
                for note in chapter.sections.iter().filter_map(|section| section.note.as_ref()) {
                    self.note(note, &document.name);
                }
                for line in chapter.headlines {
                    if !self.headlines.iter().any(|other| other.is_like(&line)) {
                        self.headlines.push(line);
                    }
                }
                let of_file = |section| Section { file: document.name.clone(), ..section };
                self.sections.extend(chapter.sections.into_iter().map(of_file));
            }
        }
        Ok(())
    }

    /// Says once what is to be said of several files.
    fn note(&mut self, note: &str, file: &str) {
        match self.notes.iter_mut().find(|(other, _)| other == note) {
            Some((_, files)) if files.iter().any(|other| other == file) => {}
            Some((_, files)) => files.push(file.to_owned()),
            None => self.notes.push((note.to_owned(), vec![file.to_owned()])),
        }
    }

    /// Whether there is something to say of what is not on the page.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty() || !self.left_out.is_empty()
    }

    /// What is on it and what is not, for the terminal.
    fn summary(&self) -> String {
        let plots: usize = self.sections.iter().map(|section| section.plots.len()).sum();
        let mut lines = vec![
            headline::answer(&self.headlines),
            format!("{} sections, {plots} pictures", self.sections.len()),
        ];
        lines.extend(self.missing.iter().map(|(_, command)| format!("not in it: {command}")));
        lines.extend(self.left_out.iter().map(|reason| format!("left out: {reason}")));
        lines.join("\n")
    }
}
