//! What a report looks like: chapters with tables, pictures and bars, for the terminal, and as one page in HTML and Markdown.
//!
//! Measurements make [chapters](model::Chapter), and `report` puts several together as a [`Page`].

pub mod axis;
pub mod headline;
pub mod model;
pub mod plot;

pub mod draw;
pub mod html;
pub mod markdown;
pub mod text;

pub use axis::{Axis, Scale, Unit};
pub use headline::{Better, Headline, Outcome, Side, TIME_PER_POLL};
pub use model::{Chapter, Section, Table};
pub use plot::{Line, Plot, distribution, number_by_percentile, time_by_percentile, turned};

const WHAT_IT_IS: &str = "Each line names the part of clockworker-benches that measured it: \
     cargo run --release -p clockworker-benches -- NAME. Ratios are medians of pairs measured in the same round; intervals \
     are of 95 %, or the range of repetitions where it says so; “better” and “worse” mean that \
     the whole interval is on that side of 1, “even” that 1 is inside it.";

#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Why numbers mean nothing, if they do not, and in which files.
    pub notes: Vec<(String, Vec<String>)>,
    pub headlines: Vec<Headline>,
    pub sections: Vec<Section>,
    pub facts: Vec<Table>,
    /// Questions without an answer, and what to run for one.
    pub missing: Vec<(String, String)>,
    pub left_out: Vec<String>,
}

impl Page {
    /// Adds what a file says, but for headlines that are there already.
    pub fn add(&mut self, chapter: Chapter, file: &str) {
        for note in chapter.sections.iter().filter_map(|section| section.note.as_ref()) {
            self.note(note, file);
        }
        for line in chapter.headlines {
            if !self.headlines.iter().any(|other| other.is_like(&line)) {
                self.headlines.push(line);
            }
        }
        let of_file = |section| Section { file: file.to_owned(), ..section };
        self.sections.extend(chapter.sections.into_iter().map(of_file));
    }

    /// Says once what is to be said of several files.
    fn note(&mut self, note: &str, file: &str) {
        match self.notes.iter_mut().find(|(other, _)| other == note) {
            Some((_, files)) if files.iter().any(|other| other == file) => {}
            Some((_, files)) => files.push(file.to_owned()),
            None => self.notes.push((note.to_owned(), vec![file.to_owned()])),
        }
    }

    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty() || !self.left_out.is_empty()
    }

    pub fn summary(&self) -> String {
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
