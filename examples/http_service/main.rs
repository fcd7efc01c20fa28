//! What does a real service gain?
//!
//! An HTTP/1 server on hyper: a small key-value store in memory, whose compaction would take the whole thread. The flag
//! `--executor` says who runs it: tokio's `LocalSet`, where requests and compaction are in one line, or Clockworker, where
//! each has a queue. All else is the same code; what differs is in `runner.rs`. `service --only http` of the benches compares the two.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

mod api;
mod compaction;
mod counters;
mod merge;
mod options;
mod runner;
mod server;
mod store;

use std::cell::RefCell;
use std::error::Error;
use std::io::Write;
use std::rc::Rc;

use api::Api;
use clap::Parser;
use counters::Counters;
use options::Options;
use runner::{Place, Runner};
use store::Store;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let runner = Runner::new(&options)?;
    let counters = Rc::new(Counters::default());
    let drained = runner.run(&rt, serve(options, runner.places(), Rc::clone(&counters)))?;
    if !drained {
        println!("some connections were cut: they were not done in time");
    }
    println!("{counters}");
    runner.print_stats();
    Ok(())
}

/// Opens the store, starts its compaction, and serves until it is time to stop. Whether all connections were done.
async fn serve(
    options: Options,
    [requests, background]: [Place; 2],
    counters: Rc<Counters>,
) -> std::io::Result<bool> {
    let store = Rc::new(RefCell::new(Store::filled(options.keys)));
    let compactors = usize::from(options.compactors);
    for first in 0..compactors {
        let shards = (first..store::SHARDS).step_by(compactors);
        background.spawn(compaction::run(Rc::clone(&store), Rc::clone(&counters), shards, options.chunk));
    }
    let listener = TcpListener::bind((options.host, options.port)).await?;
    // Whoever started this program reads the port here, so now and not when a buffer is full.
    println!("listening on http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    let api = Api::new(store, counters);
    server::run(listener, api, requests).await
}
