//! The program `clockworker-benches`; everything it does is in the library beside it.

use std::env;
use std::process::ExitCode;

use clockworker_benches::allocations::Counting;
use clockworker_benches::cli::{self, Parsed};
use clockworker_benches::failure::Failure;
use clockworker_benches::harness::command::command;
use clockworker_benches::measurements::priority::Priority;
use clockworker_benches::measurements::service::{self, Service};
use clockworker_benches::{compare, overhead, page, programs, simulate, tail, tcp, terminal};

/// Counts for the section `memory` of `overhead`.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    match cli::parse(env::args_os()) {
        Parsed::Compare(options) => status(compare::command(&options)),
        Parsed::Overhead(options) => status(overhead::command(&options)),
        Parsed::Simulate(options) => status(simulate::command(&options)),
        Parsed::Tcp(options) => status(tcp::command(&options)),
        Parsed::TcpServer(setup) => status(tcp::server::command(&setup)),
        Parsed::Service(options) => status(command::<Service>(&options)),
        Parsed::ServiceServer(setup) => status(service::server::command(&setup)),
        Parsed::Tail(options) => status(tail::command(&options)),
        Parsed::Priority(options) => status(command::<Priority>(&options)),
        Parsed::Programs(options) => status(programs::command(&options)),
        Parsed::ProgramSample(options) => status(programs::child::command(&options)),
        Parsed::Report(options) => status(page::command(&options)),
        Parsed::Help(help) => terminal::show_help(&help),
        Parsed::Wrong(failure) => terminal::complain(&failure),
    }
}

fn status(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => terminal::complain(&failure),
    }
}
