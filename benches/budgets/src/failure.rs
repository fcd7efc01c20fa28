//! What cannot be done.

use std::{fmt, io};

use clockworker_terminal::failure::Failure;

/// What cannot be done, as in "cannot write 'FILE'", and the error that says why: nothing can be said about what the code costs.
pub(crate) fn unable(what: impl fmt::Display) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure::request(format_args!("{what}: {error}"))
}
