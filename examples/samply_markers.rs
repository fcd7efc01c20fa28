//! How do I see in samply which queue the time went to? (Linux.)
//!
//! `samply record` shows a marker for each slice of a queue, and for each slow poll, above the samples of the executor's thread.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("samply finds markers like these on Linux only");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use clap::Parser;
    use clockworker::{Executor, yield_now};
    use clockworker_observe::SamplyMarkers;
    use clockworker_observe::{Observation, Observe};

    #[derive(Parser)]
    struct Options {
        /// How many milliseconds of work
        #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
        work: u64,
        /// Where the markers go
        #[arg(long, value_name = "DIRECTORY", default_value = "target")]
        out: PathBuf,
    }

    pub(crate) fn run() -> Result<(), Box<dyn Error>> {
        let options = Options::parse();
        let ex = Executor::new();
        // On the executor's thread, and before the work.
        std::fs::create_dir_all(&options.out)?;
        let mut markers = SamplyMarkers::create(&options.out)?;
        ex.observe(Observation::new().timeline(16 << 20))?;
        let requests = ex.new_queue("requests").share(3).create()?;
        let reports = ex.new_queue("reports").create()?;
        ex.block_on(async {
            let request = requests.spawn(work(options.work * 3 / 4, Duration::from_micros(100)));
            let report = reports.spawn(work(options.work / 4, Duration::from_millis(4)));
            request.await?;
            report.await
        })?;
        markers.write(&ex.timeline())?;
        println!("markers: {}", markers.path().display());
        Ok(())
    }

    /// Works for some milliseconds in all, in polls of that length.
    async fn work(total_ms: u64, poll: Duration) {
        let polls = Duration::from_millis(total_ms).as_nanos() / poll.as_nanos();
        for _ in 0..polls {
            compute(poll);
            yield_now().await;
        }
    }

    #[inline(never)]
    #[allow(clippy::disallowed_methods, reason = "it stands for work")]
    fn compute(time: Duration) {
        let began = Instant::now();
        while began.elapsed() < time {
            std::hint::spin_loop();
        }
    }
}
