//! [`JsonFile`]: complete under its name, or not there.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// A file that is to be written once there is a report. Until then nothing is touched.
#[derive(Debug)]
pub(crate) struct JsonFile {
    /// Where it goes: behind a link, the link's target.
    place: PathBuf,
    named: PathBuf,
}

impl JsonFile {
    /// Makes sure that `path` can be written.
    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        let checked = place_of(path).and_then(|place| draft_beside(&place).map(|_| place));
        let place = checked.map_err(|error| unwritable(path, &error)).map_err(Failure::Request)?;
        Ok(Self { place, named: path.to_owned() })
    }

    /// Writes the report beside the file's place, and moves it there.
    pub(crate) fn write(self, report: &impl Serialize) -> Result<(), Failure> {
        self.try_write(report).map_err(|error| Failure::Run(unwritable(&self.named, &error)))
    }

    fn try_write(&self, report: &impl Serialize) -> io::Result<()> {
        let draft = draft_beside(&self.place)?;
        let mut out = BufWriter::new(draft.as_file());
        serde_json::to_writer(&mut out, report)?;
        out.write_all(b"\n")?;
        out.flush()?;
        drop(out);
        draft.as_file().sync_all()?;
        draft.persist(&self.place)?;
        Ok(())
    }
}

fn place_of(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Err(io::Error::other("it is not a regular file")),
        Ok(_) => OpenOptions::new().append(true).open(path).and_then(|_| fs::canonicalize(path)),
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
    // Not private as temporary files are, but what the user's mask makes of an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory.unwrap_or(Path::new(".")))
}

/// What the system says, without the name of the draft that tempfile adds to it.
fn unwritable(path: &Path, error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.split_once(" at path ").map_or(&*text, |(reason, _)| reason);
    format!("cannot write '{}': {reason}", path.display())
}
