//! Run it, and `tokio-console` in another terminal: it shows the tasks with their queues.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Parser;
use clockworker::{Executor, yield_now};
use clockworker_observe::{Observation, Observe};
use tokio::time::sleep;
use tracing_subscriber::prelude::*;

/// A service whose tasks `tokio-console` shows; stop it with ctrl-c.
#[derive(Parser)]
struct Options {
    /// Where `tokio-console` finds it.
    #[arg(long, default_value = "127.0.0.1:6669")]
    address: SocketAddr,
}

/// Serves a request every 10 ms, beside a compaction that always has work. Each task has a name.
fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let console = console_subscriber::ConsoleLayer::builder()
        .server_addr(options.address)
        .publish_interval(Duration::from_millis(100));
    tracing_subscriber::registry().with(console.spawn()).init();

    let executor = Executor::new();
    executor.observe(Observation::new().spans())?;
    let requests = executor.new_queue("requests").share(9).create()?;
    let compaction = executor.new_queue("compaction").create()?;
    println!("serving; run `tokio-console http://{}`", options.address);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(executor.run_until(async {
        compaction.new_task().name("compactor").spawn(async {
            loop {
                spin(Duration::from_micros(200));
                yield_now().await;
            }
        });
        loop {
            let request = requests.new_task().name("request").spawn(async {
                sleep(Duration::from_millis(1)).await;
                spin(Duration::from_micros(100));
            });
            sleep(Duration::from_millis(10)).await;
            request.await?;
        }
    }))
}

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
