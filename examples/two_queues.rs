//! How do I keep background work from slowing down the foreground?
//!
//! Give each a queue. Both always have work here, so the shares decide: nine tenths of the thread for the foreground. The
//! small request lets it in soon when it wakes up, after the background's poll under way.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use clockworker::Executor;

fn main() -> Result<(), Box<dyn Error>> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let ex = Executor::new();
    let foreground = ex.new_queue("foreground").share(9).request(Duration::from_micros(100)).create()?;
    let background = ex.new_queue("background").share(1).create()?;
    for _ in 0..4 {
        foreground.spawn(compute());
        background.spawn(compute());
    }
    let run = || rt.block_on(ex.run_until(async { tokio::time::sleep(Duration::from_millis(300)).await }));
    run();

    let stats = ex.stats();
    println!("queue        share     busy   of all    polls   turns");
    for queue in stats.queues.iter().filter(|queue| queue.polls > 0) {
        let percent = 100.0 * queue.busy.as_secs_f64() / stats.busy.as_secs_f64();
        let (name, share, busy) = (&queue.name, queue.share, queue.busy.as_millis());
        println!("{name:12} {share:5} {busy:5} ms {percent:6.1} % {:8} {:7}", queue.polls, queue.slices);
    }
    println!("preempted {} times, back to tokio {} times", stats.preemptions, stats.host_yields);

    // Shares can be changed at any time, also by the tasks themselves.
    background.set_share(9)?;
    let (before, all_before) = (background.stats().busy, ex.stats().busy);
    run();
    let (busy, all) = (background.stats().busy - before, ex.stats().busy - all_before);
    let percent = 100.0 * busy.as_secs_f64() / all.as_secs_f64();
    println!("at shares of 9 and 9 the background has {percent:.1} %");
    Ok(())
}

/// Polls of some microseconds, without end. Dropping the executor ends it.
async fn compute() {
    loop {
        for x in 0..10_000_u64 {
            black_box(x.wrapping_mul(x));
        }
        clockworker::yield_now().await;
    }
}
