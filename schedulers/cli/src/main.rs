//! The program `clockworker-simulate`; everything it does is in the library beside it.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    clockworker_simulate::main(env::args_os())
}
