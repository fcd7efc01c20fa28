//! What ends a run before its work is done.

use std::fmt;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::failure::Failure;

/// Why a run ends before its work is done. What was recorded stays recorded.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Another process holds the database.
    Locked,
    /// The disk is full.
    Full,
    /// The database says something else.
    Database(rusqlite::Error),
    /// A graph or payload that cannot be read.
    Unreadable(String),
    /// The thread of the database is gone.
    Gone,
    Interrupted,
    /// There is something at the end that should not be.
    Left(String),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::Locked,
            Some(ErrorCode::DiskFull) => Trouble::Full,
            _ => Trouble::Database(error),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Locked => f.write_str("it is locked by another process"),
            Trouble::Full => f.write_str("the disk is full"),
            Trouble::Database(error) => error.fmt(f),
            Trouble::Unreadable(what) => write!(f, "what it holds cannot be read: {what}"),
            Trouble::Gone => f.write_str("its thread is gone"),
            Trouble::Interrupted => f.write_str("interrupted"),
            Trouble::Left(what) => write!(f, "at the end of the run {what}"),
        }
    }
}

impl Trouble {
    pub(super) fn of(self, path: &Path) -> Failure {
        let message = format!("database '{}': {self}; nothing is lost, --resume goes on", path.display());
        match self {
            Trouble::Interrupted => Failure::interrupted(message),
            _ => Failure::run(message),
        }
    }

    /// The same before the run: a file that is no such database is `refused`.
    pub(super) fn of_opening(self, path: &Path, refused: impl FnOnce(&str) -> Failure) -> Failure {
        let named = format!("database '{}': {self}", path.display());
        match self {
            Trouble::Interrupted => Failure::interrupted(named),
            Trouble::Locked | Trouble::Full => Failure::run(named),
            _ => refused(&self.to_string()),
        }
    }

    /// The same where the database is of a measurement, which keeps none.
    pub(super) fn of_measurement(self) -> Failure {
        match self {
            Trouble::Interrupted => Failure::interrupted(self),
            _ => Failure::run(format!("the database of the measurement: {self}")),
        }
    }
}
