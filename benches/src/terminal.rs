//! Standard output and standard error.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use crate::cli::Help;
use crate::failure::Failure;

/// Says what went wrong, in one line on standard error.
pub fn complain(failure: &Failure) -> ExitCode {
    // If standard error is closed the status alone must do.
    let _ = writeln!(io::stderr(), "error: {failure}");
    ExitCode::from(failure.status())
}

/// Shows a help text.
pub fn show_help(help: &Help) -> ExitCode {
    if !help.asked_for {
        let _ = io::stderr().write_all(help.text.as_bytes());
        return ExitCode::from(2);
    }
    match print_text(&help.text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => complain(&failure),
    }
}

/// Prints a text on standard output.
///
/// # Errors
///
/// If it cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print_text(text: &str) -> Result<(), Failure> {
    unless_closed(io::stdout().write_all(text.as_bytes())).map_err(|error| Failure::stdout(&error))
}

/// Prints on standard output what `write` writes.
///
/// # Errors
///
/// If it cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print_with(
    write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // Nothing is left in the buffer, or nobody is left to read it.
    drop(out.into_parts());
    unless_closed(written).map_err(|error| Failure::stdout(&error))
}

fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
