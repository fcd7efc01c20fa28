//! The program `clockworker-benches`; everything it does is in the library beside it.

use std::env;
use std::process::ExitCode;

use clockworker_benches::allocations::Counting;
use clockworker_benches::cli::{self, Parsed};
use clockworker_benches::terminal;

/// Counts for the section `memory` of `overhead`.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    match cli::parse(env::args_os()) {
        Parsed::Command(command) => match command.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => terminal::complain(&failure),
        },
        Parsed::Help(help) => terminal::show_help(&help),
        Parsed::Wrong(failure) => terminal::complain(&failure),
    }
}
