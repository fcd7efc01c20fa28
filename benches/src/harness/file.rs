//! [`WholeFile`]: a file of results, which is there when it is whole.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

/// Made before anything is measured, so that a place that cannot be written to is known by then.
pub struct WholeFile {
    path: PathBuf,
    unfinished: NamedTempFile,
}

impl WholeFile {
    pub fn at(path: &Path) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let unfinished =
            NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
        Ok(WholeFile { path: path.to_owned(), unfinished })
    }

    pub fn write(mut self, text: &str) -> Result<()> {
        let written = self.unfinished.write_all(text.as_bytes()).map_err(anyhow::Error::from);
        written
            .and_then(|()| Ok(self.unfinished.persist(&self.path)?))
            .map(drop)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine").join("micro.md");
        drop(WholeFile::at(&path).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        WholeFile::at(&path).unwrap().write("text").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert!(WholeFile::at(&path.join("below")).is_err(), "a file is no folder");
    }
}
