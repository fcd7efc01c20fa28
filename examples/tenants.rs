//! How do I keep a tenant that floods from slowing down the others?
//!
//! Give all tenants one queue, and make each a group. Under `FairGroups` each gets its share of the queue by its weight, however many
//! connections it has. Under `Qlas` those that have had least go first. Here a tenant with 64 connections sends requests without a
//! pause, one of weight 3 over 8, and a quiet one now and then; first in the order of becoming ready, which knows no tenants.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]
#![allow(clippy::disallowed_methods, reason = "this measures")]

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clockworker::Executor;
use clockworker::schedulers::{FairGroups, Qlas, RunnableFifo, Scheduler};
use clockworker_examples::compute;
use tokio::time::sleep;

/// A request is so many polls, each as long as this.
const POLLS: u32 = 5;
const POLL: Duration = Duration::from_micros(20);

struct Tenant {
    name: &'static str,
    weight: u32,
    connections: u32,
    /// Between an answer and the next request.
    pause: Duration,
}

const TENANTS: [Tenant; 3] = [
    Tenant { name: "flood", weight: 1, connections: 64, pause: Duration::ZERO },
    Tenant { name: "gold", weight: 3, connections: 8, pause: Duration::ZERO },
    Tenant { name: "quiet", weight: 1, connections: 1, pause: Duration::from_millis(5) },
];

/// How long each request took.
type Latencies = Rc<RefCell<Vec<Duration>>>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("scheduler    tenant  weight  connections  requests      p50      p99");
    serve("RunnableFifo", RunnableFifo::new())?;
    serve("Qlas", Qlas::new())?;
    serve("FairGroups", FairGroups::new())
}

/// Serves all tenants for half a second.
fn serve(name: &str, scheduler: impl Scheduler + 'static) -> Result<(), Box<dyn Error>> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let ex = Executor::builder().scheduler(scheduler).build()?;
    let mut served = Vec::new();
    for (tenant, key) in TENANTS.iter().zip(0..) {
        let group = ex.default_queue().new_group(key).weight(tenant.weight).open()?;
        let latencies = Latencies::default();
        for _ in 0..tenant.connections {
            // What a connection spawns with `spawn_local` is of its group.
            group.spawn(connection(tenant.pause, latencies.clone()));
        }
        served.push((tenant, latencies));
    }
    rt.block_on(ex.run_until(async { sleep(Duration::from_millis(500)).await }));
    for (Tenant { name: tenant, weight, connections, .. }, latencies) in served {
        let mut latencies = latencies.take();
        latencies.sort_unstable();
        let at =
            |part: f64| latencies.get((latencies.len() as f64 * part) as usize).copied().unwrap_or_default();
        let (requests, p50, p99) = (latencies.len(), at(0.5), at(0.99));
        println!("{name:12} {tenant:7} {weight:6} {connections:12} {requests:9} {p50:>8.1?} {p99:>8.1?}");
    }
    Ok(())
}

/// Requests of one connection, one after the other, without end.
async fn connection(pause: Duration, latencies: Latencies) {
    loop {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        let asked = Instant::now();
        for _ in 0..POLLS {
            clockworker::yield_now().await;
            compute(POLL);
        }
        latencies.borrow_mut().push(asked.elapsed());
    }
}
