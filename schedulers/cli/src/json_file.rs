//! The file that results are written to: complete under its name, or as it was.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::Serialize;
use tempfile::NamedTempFile;

/// A file that is to be written once there is something to write. Until then nothing is touched.
#[derive(Debug)]
pub(crate) struct JsonFile {
    /// Behind a link, the link's target.
    path: PathBuf,
}

impl JsonFile {
    /// Makes sure that `path` can be written: that there is such a folder, and nothing that is not a file.
    pub(crate) fn at(path: &Path) -> anyhow::Result<Self> {
        let file = Self { path: path.canonicalize().unwrap_or_else(|_| path.to_owned()) };
        file.check().with_context(|| file.cannot())?;
        Ok(file)
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(self.path.file_name().is_some(), "it has no name");
        if self.path.exists() {
            ensure!(self.path.is_file(), "it is not a regular file");
            OpenOptions::new().append(true).open(&self.path)?;
        }
        self.draft().map(drop)
    }

    /// Writes a draft beside the file's place, and moves that there.
    pub(crate) fn write(self, report: &impl Serialize) -> anyhow::Result<()> {
        let written = self.draft().and_then(|draft| {
            let mut out = BufWriter::new(draft.as_file());
            serde_json::to_writer(&mut out, report)?;
            out.write_all(b"\n")?;
            out.flush()?;
            drop(out);
            draft.as_file().sync_all()?;
            draft.persist(&self.path)?;
            Ok(())
        });
        written.with_context(|| self.cannot())
    }

    fn draft(&self) -> anyhow::Result<NamedTempFile> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut draft = tempfile::Builder::new();
        draft.prefix(".clockworker-").suffix(".draft");
        // Not private as temporary files are, but what the user's mask makes of an ordinary file.
        #[cfg(unix)]
        draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(draft.tempfile_in(folder.unwrap_or(Path::new(".")))?)
    }

    fn cannot(&self) -> String {
        format!("cannot write '{}'", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_cannot_be_written_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        for path in
            [&folder.path().join("missing/result.json"), folder.path(), Path::new("/dev/null"), Path::new("")]
        {
            let why = format!("{:#}", JsonFile::at(path).unwrap_err());
            assert!(why.starts_with(&format!("cannot write '{}': ", path.display())), "{why}");
        }
        assert!(JsonFile::at(&folder.path().join("result.json")).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_goes_on_leading_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target.json"), folder.path().join("link.json"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        JsonFile::at(&link).unwrap().write(&"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "\"new\"\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_draft_that_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        fs::write(&path, "old").unwrap();
        // JSON has no map by numbers in parts.
        let fails = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(JsonFile::at(&path).unwrap().write(&fails).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
