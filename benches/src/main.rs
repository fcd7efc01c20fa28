//! The program `clockworker-benches`; everything it does is in the library beside it.

use std::env;
use std::process::ExitCode;

use clockworker_benches::cli::{self, Parsed};
use clockworker_benches::{compare, terminal};

fn main() -> ExitCode {
    match cli::parse(env::args_os()) {
        Parsed::Compare(options) => match compare::command(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => terminal::complain(&failure),
        },
        Parsed::Help(help) => terminal::show_help(&help),
        Parsed::Wrong(failure) => terminal::complain(&failure),
    }
}
