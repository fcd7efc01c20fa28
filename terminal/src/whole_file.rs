//! A file that a run writes: complete under its name, or as it was.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// A file that is to be written once there is something to write. Until then nothing is touched.
#[derive(Debug)]
pub struct WholeFile {
    /// Where it goes: behind a link, the link's target.
    place: PathBuf,
    named: PathBuf,
}

impl WholeFile {
    /// Makes sure that `path` can be written, and leaves what is there.
    ///
    /// # Errors
    ///
    /// If it cannot: no such folder, no permission, or something there that is not a file.
    pub fn at(path: &Path) -> Result<Self, Failure> {
        let checked = place_of(path).and_then(|place| draft_beside(&place).map(|_| place));
        let place = checked.map_err(|error| Failure::unwritable(path, reason(&error)))?;
        Ok(Self { place, named: path.to_owned() })
    }

    /// Has `write` write a draft beside the file's place, and moves that there.
    ///
    /// # Errors
    ///
    /// If it cannot be written, in which case what was there before still is.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let written = draft_beside(&self.place).and_then(|draft| {
            let mut out = BufWriter::new(draft.as_file());
            write(&mut out)?;
            out.flush()?;
            drop(out);
            draft.as_file().sync_all()?;
            draft.persist(&self.place).map_err(|error| error.error)
        });
        let failed =
            |error| Failure::run(format_args!("cannot write '{}': {}", self.named.display(), reason(&error)));
        written.map(drop).map_err(failed)
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
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" at path ").map_or(&*text, |(reason, _)| reason).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_refused_before_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path, wanted: &str| {
            let failure = WholeFile::at(path).unwrap_err();
            let said = failure.to_string();
            assert!(failure.status() == 2 && said.contains(wanted), "{said}");
            assert!(!said.contains(".clockworker-"), "drafts are no business of the user: {said}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        };
        refused(&folder.path().join("missing/result.json"), "result.json': No such file");
        refused(folder.path(), "is a directory");
        #[cfg(unix)]
        refused(Path::new("/dev/null"), "not a regular file");
        refused(Path::new(""), "cannot write ''");
        assert!(WholeFile::at(&folder.path().join("result.json")).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_goes_on_leading_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target.json"), folder.path().join("link.json"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let file = WholeFile::at(&link).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        file.write(|out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_draft_that_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        fs::write(&path, "old").unwrap();
        let failed = WholeFile::at(&path).unwrap().write(|out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("result.json': the disk is full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
