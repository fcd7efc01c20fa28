//! Where the time goes: workloads to profile, and profiles of them.
//!
//! One subcommand a question; `README.md` beside this says which to take, and how to read what it shows.

mod cli;
mod contestant;
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "elsewhere.rs"
)]
mod in_process;
mod rounds;

use std::process::ExitCode;

use clockworker_benches::failure::Failure;
use clockworker_benches::terminal;

use cli::{Command, Line};
use in_process::{flamegraph, phases};

fn main() -> ExitCode {
    terminal::main(|line: &Line| terminal::print_text(&answer(&line.command)?))
}

fn answer(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Run(options) => Ok(rounds::command(options)),
        Command::Flamegraph(options) => flamegraph::command(options),
        Command::Phases(options) => phases::command(options),
        #[cfg(feature = "observe")]
        Command::Queues(options) => in_process::queues::command(options),
        Command::Callgrind { executor, workload } => rounds::callgrind(*executor, *workload),
    }
}
