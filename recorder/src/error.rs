//! Why there is no recorder, and why a file is no recording.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a file cannot be recorded into.
#[derive(Debug)]
pub struct RecorderError {
    path: PathBuf,
    kind: RecorderKind,
}

#[derive(Debug)]
enum RecorderKind {
    Queues(usize),
    Io(io::Error),
}

impl RecorderError {
    pub(crate) fn queues(path: &Path, queues: usize) -> Self {
        Self { path: path.into(), kind: RecorderKind::Queues(queues) }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { path: path.into(), kind: RecorderKind::Io(error) }
    }

    /// Whether the number of queues is out of range.
    pub fn is_queues(&self) -> bool {
        matches!(self.kind, RecorderKind::Queues(_))
    }
}

impl fmt::Display for RecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot record into '{}': ", self.path.display())?;
        match &self.kind {
            RecorderKind::Queues(queues) => write!(f, "{queues} queues; it may be 1 to 4,096"),
            RecorderKind::Io(error) => error.fmt(f),
        }
    }
}

impl Error for RecorderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            RecorderKind::Queues(_) => None,
            RecorderKind::Io(error) => Some(error),
        }
    }
}

/// Why a file is not read as a recording.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    kind: ReadKind,
}

#[derive(Debug)]
pub(crate) enum ReadKind {
    Io(io::Error),
    Foreign,
    Version(u64),
    Truncated { bytes: u64, needed: u64 },
}

impl ReadError {
    pub(crate) fn new(path: &Path, kind: ReadKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// Whether it is no recording of clockworker, or one of a machine with another order of bytes.
    pub fn is_foreign(&self) -> bool {
        matches!(self.kind, ReadKind::Foreign)
    }

    /// Whether it is of another version of the format.
    pub fn is_version(&self) -> bool {
        matches!(self.kind, ReadKind::Version(_))
    }

    /// Whether the end of it is missing.
    pub fn is_truncated(&self) -> bool {
        matches!(self.kind, ReadKind::Truncated { .. })
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            ReadKind::Io(error) => write!(f, "cannot read '{path}': {error}"),
            ReadKind::Foreign => write!(f, "'{path}' is no recording of clockworker"),
            ReadKind::Version(version) => write!(
                f,
                "'{path}' has version {version} of the format; this program reads version {}",
                crate::layout::VERSION
            ),
            ReadKind::Truncated { bytes, needed } => {
                write!(f, "'{path}' is cut off: it has {bytes} bytes of {needed}")
            }
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ReadKind::Io(error) => Some(error),
            ReadKind::Foreign | ReadKind::Version(_) | ReadKind::Truncated { .. } => None,
        }
    }
}
