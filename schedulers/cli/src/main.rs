//! The program `clockworker-simulate`; everything it does is in the library beside it.

use std::process::ExitCode;

use clockworker_terminal::program;

fn main() -> ExitCode {
    program::main(clockworker_simulate::run)
}
