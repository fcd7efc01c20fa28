//! How do I keep a long computation from holding everybody up?
//!
//! A poll cannot be cut short, so ask now and then with `yield_if_due`: it goes on at once unless the slice is over, the
//! host must run or something urgent has come, and costs a few nanoseconds. `should_yield` asks the same outside async code.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use clockworker::Executor;

fn main() -> Result<(), Box<dyn Error>> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let ex = Executor::new();
    let background = ex.new_queue("background").create()?;

    let ticks = Rc::new(Cell::new(0));
    ex.spawn({
        let ticks = Rc::clone(&ticks);
        async move {
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
                ticks.set(ticks.get() + 1);
            }
        }
    });

    let primes = rt.block_on(ex.run_until(background.spawn(count_primes(200_000))))?;
    let polls = background.stats().polls;
    println!("{primes} primes below 200000");
    println!("computed in {polls} polls; the ticker ticked {} times meanwhile", ticks.get());
    Ok(())
}

async fn count_primes(below: u32) -> usize {
    let mut primes = Vec::new();
    for n in 2..below {
        let divides = |prime: &u32| n % prime == 0;
        if !primes.iter().take_while(|prime| **prime * **prime <= n).any(divides) {
            primes.push(n);
        }
        clockworker::yield_if_due().await;
    }
    primes.len()
}
