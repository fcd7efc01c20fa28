//! The workload, over and over, here or under callgrind.

use std::env;
use std::time::Duration;

use clockworker_benches::failure::Failure;
use clockworker_benches::measurements::Keyed;
use clockworker_benches::numbers::grouped;
use clockworker_benches::stopwatch::Stopwatch;
use clockworker_benches::workload::shape::Shape;

use crate::cli::{DIRECTORY, Length, RunOptions, Workload};
use crate::contestant::Contestant;

/// Calls `round` until it is time to stop, once at the least; how often it was called.
pub(crate) fn repeat(length: Length, mut round: impl FnMut()) -> u64 {
    let watch = Stopwatch::start();
    let mut done = 0;
    loop {
        round();
        done += 1;
        let over = match length.rounds {
            Some(rounds) => done >= rounds,
            None => watch.elapsed() >= length.seconds,
        };
        if over {
            return done;
        }
    }
}

pub(crate) fn command(options: &RunOptions) -> String {
    // What happens once in a process, calibrating the clock above all, is not the workload's.
    options.executor.run(Shape::new(1, 0), || (), |()| ());
    let (rounds, time) = workload(options);
    let shape = options.workload.shape();
    let polls = rounds * shape.polls();
    format!(
        "{}, {shape}: {} rounds, {} polls, {:.2} ns per poll\n",
        options.executor.key(),
        grouped(rounds),
        grouped(polls),
        time.as_nanos() as f64 / polls as f64,
    )
}

/// The rounds, and the time that they took. A function of its own, as callgrind counts what is called from here.
#[inline(never)]
fn workload(options: &RunOptions) -> (u64, Duration) {
    let shape = options.workload.shape();
    let mut time = Duration::ZERO;
    let rounds = repeat(options.length, || {
        time += options.executor.run(shape, Stopwatch::start, |watch| watch.elapsed());
    });
    (rounds, time)
}

pub(crate) fn callgrind(executor: Contestant, workload: Workload) -> Result<String, Failure> {
    let program = env::current_exe().map_err(|error| Failure::run(format!("cannot find myself: {error}")))?;
    let counts = format!("{DIRECTORY}/callgrind.out");
    let Workload { tasks, yields } = workload;
    Ok(format!(
        "valgrind --tool=callgrind --toggle-collect='*rounds::workload*' --callgrind-out-file={counts} \\\n    \
         '{program}' run --executor {executor} --tasks {tasks} --yields {yields} --rounds 1\n\
         callgrind_annotate --auto=no --threshold=95 {counts}\n\
         callgrind_annotate --auto=yes --threshold=95 {counts}    # by source line, so inlined functions too\n",
        program = program.display(),
        executor = executor.key(),
    ))
}
