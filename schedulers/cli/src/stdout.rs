//! Standard output.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use crate::failure::Failure;

/// Prints what `write` writes. A reader that has gone away, as `head` does, is no failure.
pub(crate) fn print(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // Nothing is left in the buffer, or nobody is left to read it.
    drop(out.into_parts());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::run(format_args!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
