//! What does it cost to record? Beside other ways to tell: an atomic counter, a `write` to a file, a datagram.
//!
//! Each of 1,000,000 calls is timed by itself, the ways in turn, a thousand calls at a time; and each thousand once more as a whole, for
//! what a call takes without the timing (the median of the thousands). `nothing` is a call of nothing.
//!
//! `Series::record` records one value. `Recorder::record` records an executor with one queue, 24 series of 3 tiers each, and files one
//! series, and includes asking the executor for its stats; `stats` is that by itself.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use clockworker::Executor;
use clockworker_recorder::Recorder;

const ROUNDS: usize = 1_000;
const CALLS: usize = 1_000;

/// Its name, and a call.
type Way<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("record_cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&folder);
    std::fs::remove_dir_all(&folder)?;
    measured
}

fn measure(folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    let mut recorder = Recorder::create(folder.join("recording.cwr"))?;
    let series = recorder.series("values")?;
    let (now, counter) = (SystemTime::UNIX_EPOCH + Duration::from_secs(1), AtomicU64::new(0));
    let mut file = File::create(folder.join("written"))?;
    let (server, client) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    client.connect(server.local_addr()?)?;
    let mut value = 0;
    let ways: [Way<'_>; 7] = [
        ("nothing", Box::new(|| {})),
        (
            "atomic increment",
            Box::new(|| {
                black_box(counter.fetch_add(1, Ordering::Relaxed));
            }),
        ),
        (
            "Series::record",
            Box::new(|| {
                value += 1;
                series.record(black_box(value));
            }),
        ),
        ("Recorder::record", Box::new(|| recorder.record(ex.stats(), now))),
        ("stats", Box::new(|| drop(black_box(ex.stats())))),
        ("write of 16 bytes", Box::new(|| file.write_all(&[0; 16]).unwrap_or_default())),
        ("UDP datagram of 16 bytes", Box::new(|| drop(client.send(&[0; 16])))),
    ];
    print(ways);
    Ok(())
}

fn print(mut ways: [Way<'_>; 7]) {
    let mut times = vec![Vec::with_capacity(ROUNDS * CALLS); ways.len()];
    let mut thousands = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for _ in 0..ROUNDS {
        for (way, (_, call)) in ways.iter_mut().enumerate() {
            times[way].extend((0..CALLS).map(|_| time(&mut *call)));
            thousands[way].push(time(|| (0..CALLS).for_each(|_| call())) as f64 / CALLS as f64);
        }
    }
    println!("{:26}{:>9}{:>9}{:>9}{:>16}", "ns a call", "p50", "p99", "p99.9", "in a thousand");
    for (way, (name, _)) in ways.iter().enumerate() {
        times[way].sort_unstable();
        thousands[way].sort_unstable_by(f64::total_cmp);
        let [p50, p99, p999] =
            [0.5, 0.99, 0.999].map(|part| times[way][(part * (ROUNDS * CALLS) as f64) as usize]);
        println!("{name:26}{p50:>9}{p99:>9}{p999:>9}{:>16.1}", thousands[way][ROUNDS / 2]);
    }
}

#[allow(clippy::disallowed_methods, reason = "it measures")]
fn time(call: impl FnOnce()) -> u128 {
    let began = Instant::now();
    call();
    began.elapsed().as_nanos()
}
