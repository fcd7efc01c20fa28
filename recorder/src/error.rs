//! Why there is no recorder, and why a file is no recording.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::layout::{NAME_BYTES, VERSION};

/// Why a file cannot be recorded into.
#[derive(Debug)]
pub struct RecorderError {
    path: PathBuf,
    kind: RecorderKind,
}

#[derive(Debug)]
enum RecorderKind {
    Room { queues: usize, series: usize },
    Full(usize),
    InUse(String),
    Name(String),
    Io(io::Error),
}

impl RecorderError {
    fn new(path: &Path, kind: RecorderKind) -> Self {
        Self { path: path.into(), kind }
    }

    pub(crate) fn room(path: &Path, queues: usize, series: usize) -> Self {
        Self::new(path, RecorderKind::Room { queues, series })
    }

    pub(crate) fn full(path: &Path, series: usize) -> Self {
        Self::new(path, RecorderKind::Full(series))
    }

    pub(crate) fn in_use(path: &Path, name: &str) -> Self {
        Self::new(path, RecorderKind::InUse(name.into()))
    }

    pub(crate) fn name(path: &Path, name: &str) -> Self {
        Self::new(path, RecorderKind::Name(name.into()))
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(path, RecorderKind::Io(error))
    }

    /// Whether the number of queues or of series is out of range.
    pub fn is_room(&self) -> bool {
        matches!(self.kind, RecorderKind::Room { .. })
    }

    /// Whether there is no room for one more series.
    pub fn is_full(&self) -> bool {
        matches!(self.kind, RecorderKind::Full(_))
    }

    /// Whether somebody has the series of that name.
    pub fn is_in_use(&self) -> bool {
        matches!(self.kind, RecorderKind::InUse(_))
    }

    /// Whether a series cannot have that name: it is empty, too long, or has a zero byte.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, RecorderKind::Name(_))
    }
}

impl fmt::Display for RecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot record into '{}': ", self.path.display())?;
        match &self.kind {
            RecorderKind::Room { queues, series } => {
                write!(f, "{queues} queues and {series} series; it may be 1 to 4,096 and 0 to 4,096")
            }
            RecorderKind::Full(series) => write!(f, "it has room for {series} series, and has them"),
            RecorderKind::InUse(name) => write!(f, "the series '{name}' is in use"),
            RecorderKind::Name(name) => {
                let bytes = name.len();
                write!(
                    f,
                    "a series has a name of 1 to {NAME_BYTES} bytes, none of them zero; {name:?} has {bytes} bytes"
                )
            }
            RecorderKind::Io(error) => error.fmt(f),
        }
    }
}

impl Error for RecorderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            RecorderKind::Io(error) => Some(error),
            _ => None,
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
                "'{path}' has version {version} of the format; this program reads version {VERSION}"
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
