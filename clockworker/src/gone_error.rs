//! [`GoneError`]: an executor that answers no more.

use std::error::Error;
use std::fmt;

/// A [`Handle`](crate::Handle) gets no answer: its executor was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoneError(());

impl GoneError {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for GoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the executor gives no answer: it was dropped")
    }
}

impl Error for GoneError {}
