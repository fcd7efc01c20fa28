//! [`GoneError`]: an executor that answers no more.

use std::error::Error;
use std::fmt;

/// Why an executor gives a [`Handle`](crate::Handle) no answer: it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoneError {
    forked: bool,
}

impl GoneError {
    pub(crate) fn new(forked: bool) -> Self {
        Self { forked }
    }

    /// Whether the executor was dropped.
    pub fn is_dropped(&self) -> bool {
        !self.forked
    }

    /// Whether this is a child process of the one that has the executor.
    pub fn is_forked(&self) -> bool {
        self.forked
    }
}

impl fmt::Display for GoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.forked {
            false => "the executor gives no answer: it was dropped",
            true => "the executor gives no answer: it belongs to the process that this one was forked from",
        })
    }
}

impl Error for GoneError {}
