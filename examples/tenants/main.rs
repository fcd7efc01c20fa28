//! How do I keep a tenant that floods from slowing down the others?
//!
//! Give all tenants one queue under `FairGroups`, and make each a group with a weight. Each then gets its share of the queue,
//! however many connections it has. This is a TCP service: a connection says whose it is, and is served in that tenant's group. The flag
//! `--executor` says who runs it, Clockworker or tokio's `LocalSet`, which knows no tenants; what differs is in `runner.rs`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

mod clients;
mod options;
mod runner;
mod service;
mod tenant;

use std::error::Error;
use std::rc::Rc;
use std::thread;

use clap::Parser;
use options::Options;
use runner::Runner;
use service::Service;
use tenant::Tenant;
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let tenants = options.tenants();
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let runner = Runner::new(options.executor, &tenants)?;
    let listener = rt.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let service = Rc::new(Service::new(runner.spawner(), tenants.len()));

    let limit = options.limit();
    let (done, all_done) = tokio::sync::oneshot::channel();
    let theirs = tenants.clone();
    let clients = thread::spawn(move || {
        let answers = clients::run(address, &theirs, limit);
        // Whoever waits for it has gone only if the service has failed.
        let _ = done.send(());
        answers
    });
    runner.run(&rt, service.clone().serve(listener, all_done))?;
    let latencies = clients.join().map_err(|_| "a client failed")??;

    println!("tenant     weight  connections  requests    share     p50 ms     p99 ms");
    for (number, (tenant, latencies)) in tenants.iter().zip(latencies).enumerate() {
        print_tenant(tenant, service.share(number), latencies);
    }
    Ok(())
}

fn print_tenant(tenant: &Tenant, share: f64, mut latencies: Vec<f64>) {
    latencies.sort_by(f64::total_cmp);
    let at =
        |part: f64| latencies.get((latencies.len() as f64 * part) as usize).map_or(0.0, |millis| *millis);
    let (name, weight, connections, requests) =
        (&tenant.name, tenant.weight, tenant.connections, latencies.len());
    let (percent, p50, p99) = (share * 100.0, at(0.5), at(0.99));
    println!("{name:10} {weight:6} {connections:12} {requests:9} {percent:6.1} % {p50:10.2} {p99:10.2}");
}
