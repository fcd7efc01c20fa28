//! The JSON file: complete under its name, or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// The exit status of a program that was interrupted, as shells report it.
const INTERRUPTED: i32 = 130;

/// The draft of the JSON file, for whom an interrupt calls upon to remove it. Locked while it comes into
/// being, so that there is no moment at which it exists and is not known here.
static DRAFT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Ends the process when the user interrupts it or it is told to terminate, without leaving a draft behind.
/// To be called once, before the JSON file is created.
///
/// # Errors
///
/// If the system refuses to tell of interrupts.
pub fn clean_up_on_interrupt() -> Result<(), Failure> {
    let stop = || {
        let draft = DRAFT.lock().unwrap_or_else(PoisonError::into_inner);
        draft.iter().for_each(|draft| drop(fs::remove_file(draft)));
        process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(stop).map_err(|error| Failure::run(format!("cannot handle interrupts: {error}")))
}

/// The JSON file: complete under its name, or not there.
///
/// It is written beside its place and moved there at the end. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct JsonFile {
    place: PathBuf,
    named: PathBuf,
    draft: NamedTempFile,
}

impl JsonFile {
    /// Makes sure that `path` can be written, without touching what is there.
    ///
    /// # Errors
    ///
    /// If it cannot: no such directory, no permission, or something there that is not a file.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(path, reason(&error));
        let place = place_of(path).map_err(unwritable)?;
        let mut interruptible = DRAFT.lock().unwrap_or_else(PoisonError::into_inner);
        let draft = draft_beside(&place).map_err(unwritable)?;
        *interruptible = Some(draft.path().to_owned());
        Ok(JsonFile { place, named: path.to_owned(), draft })
    }

    /// Writes the report and puts the file in its place.
    ///
    /// # Errors
    ///
    /// If it cannot be written, in which case what was there before still is.
    pub fn commit(mut self, report: &impl Serialize) -> Result<(), Failure> {
        let written = write_json(report, self.draft.as_file_mut());
        let place = self.place;
        written.and_then(|()| self.draft.persist(&place).map_err(|error| error.error)).map(drop).map_err(
            |error| Failure::run(format!("cannot write '{}': {}", self.named.display(), reason(&error))),
        )
    }
}

fn write_json(report: &impl Serialize, file: &mut File) -> io::Result<()> {
    let mut out = BufWriter::new(&mut *file);
    serde_json::to_writer(&mut out, report)?;
    out.write_all(b"\n")?;
    out.flush()?;
    drop(out);
    file.sync_all()
}

/// Where a file named `path` is to be put: behind a link, the link's target.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Err(io::Error::other("it is not a regular file")),
        Ok(_) => {
            OpenOptions::new().append(true).open(path)?;
            fs::canonicalize(path)
        }
        Err(error) if error.kind() == ErrorKind::NotFound && path.file_name().is_some() => {
            Ok(path.to_owned())
        }
        Err(error) => Err(error),
    }
}

fn draft_beside(place: &Path) -> io::Result<NamedTempFile> {
    let directory = place.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".clockworker-compare-").suffix(".json");
    readable_by_all(&mut builder);
    builder.tempfile_in(directory.unwrap_or(Path::new(".")))
}

/// Temporary files are private by default; this one becomes an ordinary file, as far as the user's mask lets
/// it.
#[cfg(unix)]
fn readable_by_all(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;

    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable_by_all(_builder: &mut tempfile::Builder<'_, '_>) {}

/// What the system says, without the name of the draft that tempfile adds to it.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" at path ").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}
