//! Run it, and `tokio-console` in another terminal: it shows the tasks with their queues.

use std::error::Error;
use std::net::SocketAddr;

use clap::Parser;
use clockworker::Executor;
use clockworker_console::Service;
use tracing_subscriber::prelude::*;

/// A service whose tasks `tokio-console` shows; stop it with ctrl-c.
#[derive(Parser)]
struct Options {
    /// Where `tokio-console` finds it.
    #[arg(long, default_value = "127.0.0.1:6669")]
    address: SocketAddr,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let console = console_subscriber::ConsoleLayer::builder().server_addr(options.address).spawn();
    tracing_subscriber::registry().with(console).init();

    let executor = Executor::new();
    let service = Service::new(&executor)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    println!("serving; run `tokio-console http://{}`", options.address);
    runtime.block_on(executor.run_until(service.run(|| false)));
    Ok(())
}
