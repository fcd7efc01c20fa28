//! A file that a run writes: complete under its name, or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// The exit status of a program that was interrupted, as shells report it.
const INTERRUPTED: i32 = 130;

/// The drafts, for whom an interrupt calls upon to remove them. Locked while one comes into being, so that there is
/// no moment at which it exists and is not known here.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends the process when the user interrupts it or it is told to terminate, without leaving a draft behind.
/// To be called once, before a file is created.
///
/// # Errors
///
/// If the system refuses to tell of interrupts.
pub fn clean_up_on_interrupt() -> Result<(), Failure> {
    let stop = || {
        let drafts = DRAFTS.lock().unwrap_or_else(PoisonError::into_inner);
        drafts.iter().for_each(|draft| drop(fs::remove_file(draft)));
        process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(stop).map_err(|error| Failure::run(format!("cannot handle interrupts: {error}")))
}

/// A file: complete under its name, or not there.
///
/// It is written beside its place and moved there at the end. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    place: PathBuf,
    named: PathBuf,
    draft: NamedTempFile,
}

impl WholeFile {
    /// Makes sure that `path` can be written, without touching what is there.
    ///
    /// # Errors
    ///
    /// If it cannot: no such directory, no permission, or something there that is not a file.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(path, reason(&error));
        let place = place_of(path).map_err(unwritable)?;
        let mut interruptible = DRAFTS.lock().unwrap_or_else(PoisonError::into_inner);
        let draft = draft_beside(&place).map_err(unwritable)?;
        interruptible.push(draft.path().to_owned());
        Ok(WholeFile { place, named: path.to_owned(), draft })
    }

    /// Has `write` write it, and puts it in its place.
    ///
    /// # Errors
    ///
    /// If it cannot be written, in which case what was there before still is.
    pub fn commit(
        mut self,
        write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let written = write_to(self.draft.as_file_mut(), write);
        let place = self.place;
        written.and_then(|()| self.draft.persist(&place).map_err(|error| error.error)).map(drop).map_err(
            |error| Failure::run(format!("cannot write '{}': {}", self.named.display(), reason(&error))),
        )
    }
}

fn write_to(
    file: &mut File,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(&mut *file);
    write(&mut out)?;
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
    builder.prefix(".clockworker-").suffix(".draft");
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
