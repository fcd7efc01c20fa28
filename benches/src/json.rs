//! The JSON file: complete under its name, or not there.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;
use crate::whole_file::WholeFile;

pub use crate::whole_file::clean_up_on_interrupt;

/// The JSON file: complete under its name, or not there.
///
/// It is written beside its place and moved there at the end. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct JsonFile(WholeFile);

impl JsonFile {
    /// Makes sure that `path` can be written, without touching what is there.
    ///
    /// # Errors
    ///
    /// If it cannot: no such directory, no permission, or something there that is not a file.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        WholeFile::create(path).map(JsonFile)
    }

    /// Writes the report and puts the file in its place.
    ///
    /// # Errors
    ///
    /// If it cannot be written, in which case what was there before still is.
    pub fn commit(self, report: &impl Serialize) -> Result<(), Failure> {
        self.0.commit(|out| {
            serde_json::to_writer(&mut *out, report)?;
            out.write_all(b"\n")
        })
    }
}
