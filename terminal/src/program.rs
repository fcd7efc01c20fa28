//! A program: from its command line to its exit status.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind as Clap;

use crate::failure::Failure;

/// Reads the command line and has `run` do what it says: status 0, 1 if that failed, 2 if the request makes no sense, with one
/// line on standard error.
pub fn main<L: Parser>(run: impl FnOnce(&L) -> Result<(), Failure>) -> ExitCode {
    let done = match L::try_parse() {
        Ok(line) => run(&line),
        Err(error) if !error.use_stderr() => print_text(&error.render().to_string()),
        // Nothing was asked for: the help itself says what can be.
        Err(error) if error.kind() == Clap::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) => Err(Failure::of_arguments(&error)),
    };
    done.map_or_else(|failure| complain(&failure), |()| ExitCode::SUCCESS)
}

/// Says what went wrong, in one line on standard error.
pub fn complain(failure: &Failure) -> ExitCode {
    // If standard error is closed the status alone must do.
    let _ = writeln!(io::stderr(), "error: {failure}");
    ExitCode::from(failure.status())
}

/// Prints a text on standard output.
///
/// # Errors
///
/// If it cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print_text(text: &str) -> Result<(), Failure> {
    print(|out| out.write_all(text.as_bytes()))
}

/// Prints on standard output what `write` writes.
///
/// # Errors
///
/// If it cannot be written. A reader that has gone away, as `head` does, is no error.
pub fn print(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // Nothing is left in the buffer, or no reader is left to read it.
    drop(out.into_parts());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::run(format_args!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
