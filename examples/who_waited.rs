//! How do I find out who held the thread, and who waited for it?
//!
//! The executor keeps a timeline of what happened last. This one stops when a request has waited for more than 100 ms, says who is
//! to blame, and writes a trace for <https://ui.perfetto.dev> and a page that needs no network.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use clockworker::{Executor, yield_now};
use clockworker_observe::{Observation, Observe};
use clockworker_observe::{summary, write_html, write_perfetto};

#[derive(Parser)]
struct Options {
    /// Where the trace goes
    #[arg(long, value_name = "FILE", default_value = "target/who_waited.json")]
    out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let ex = Executor::new();
    let requests = ex.new_queue("requests").share(9).create()?;
    let reports = ex.new_queue("reports").create()?;
    let longest = Duration::from_millis(100);
    let stop = Observation::new().latency().timeline(1 << 20).stop_after_wait(longest);
    ex.observe(stop.stop_for_queue(requests.stats().number))?;
    ex.block_on(async {
        reports.spawn(async {
            for part in 0..20 {
                // One part takes much longer than the others, and does not yield meanwhile.
                compute(Duration::from_millis(if part == 7 { 200 } else { 1 }));
                yield_now().await;
            }
        });
        for _ in 0..20_000 {
            let request = async { compute(Duration::from_micros(10)) };
            requests.spawn(request).await?;
        }
        Ok::<_, clockworker::JoinError>(())
    })?;
    let timeline = ex.timeline();
    println!("stopped by a long wait: {}", timeline.is_stopped);
    print!("{}", summary(&timeline));
    options.out.parent().map_or(Ok(()), fs::create_dir_all)?;
    write_perfetto(&timeline, File::create(&options.out)?)?;
    println!("open in https://ui.perfetto.dev: {}", options.out.display());
    let page = options.out.with_extension("html");
    write_html(&timeline, File::create(&page)?)?;
    println!("open in a browser: {}", page.display());
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "it stands for work")]
fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
