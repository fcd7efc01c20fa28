//! The program `clockworker-benches`; everything it does is in the library beside it.

use std::process::ExitCode;

use clockworker_benches::allocations::Counting;
use clockworker_benches::cli::Line;
use clockworker_terminal::program;

/// Counts for the section `memory` of `overhead`.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    program::main(|line: &Line| line.command.run())
}
