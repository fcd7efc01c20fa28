//! What an event of a timeline takes in each of the forms that there are: bytes, and nanoseconds to write. The least of fifteen.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "an example that measures")]

use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use clockworker::observe::{Observation, Timeline};
use clockworker::{Executor, ManualClock, yield_now};
use clockworker_timeline::{write_dial9, write_html, write_perfetto};

type Write = fn(&Timeline, &mut Vec<u8>) -> io::Result<()>;

const TASKS: u64 = 6_000;

fn main() -> Result<(), Box<dyn Error>> {
    let forms: [(&str, Write); 3] = [
        ("dial9", |timeline, bytes| write_dial9(timeline, bytes)),
        ("perfetto", |timeline, bytes| write_perfetto(timeline, bytes)),
        ("html", |timeline, bytes| write_html(timeline, bytes)),
    ];
    let timeline = timeline()?;
    let events = timeline.events.len() as f64;
    println!("{events} events");
    for (name, write) in forms {
        let (mut bytes, mut least) = (Vec::new(), f64::MAX);
        for _ in 0..15 {
            bytes.clear();
            let began = Instant::now();
            write(&timeline, &mut bytes)?;
            least = least.min(began.elapsed().as_nanos() as f64);
        }
        println!("{name}: {:.1} bytes and {:.0} ns an event", bytes.len() as f64 / events, least / events);
    }
    Ok(())
}

/// Of tasks in two queues that work and yield, up to six times.
fn timeline() -> Result<Timeline, Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let other = ex.new_queue("other").share(3).create()?;
    ex.observe(Observation::new().timeline(1 << 24).every_poll())?;
    for nth in 0..TASKS {
        let clock = clock.clone();
        let task = async move {
            for _ in 0..nth % 7 {
                clock.advance(Duration::from_micros(nth % 300));
                yield_now().await;
            }
        };
        if nth % 3 == 0 {
            other.spawn(task)
        } else {
            ex.spawn(task)
        };
    }
    ex.block_on(ex.drained());
    Ok(ex.timeline())
}
