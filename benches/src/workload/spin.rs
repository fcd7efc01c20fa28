//! Work: a given amount of CPU time, used up.
//!
//! The amount is counted on the thread's own CPU clock, so that the load offered is the same in all arms to within the
//! overshoot of one step, below 1 µs of 100 µs or more. Caches gone cold after a switch would make work slower, which this
//! hides; but it touches no memory. The two other ways of doing it were turned down:
//!
//! - *Until N µs have passed on the wall clock* counts time in which the thread did not run as work done: of two threads on
//!   one core each would finish its segments while the other runs, as if there was twice the CPU.
//! - *A number of loops calibrated before the run* takes as long as the clock frequency and the neighbours on a shared machine
//!   let it. At a load of 60 %, a tenth more work per segment doubles the queues: drift would swamp what is compared.

use std::hint;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// About half a microsecond of integer work between two looks at the clock, each a system call of a quarter of one.
const ROUNDS_PER_STEP: u32 = 300;

/// Keeps this thread's core busy until the thread has used up `amount` of CPU time.
pub fn burn(amount: Duration) {
    let end = cpu_time() + amount;
    let mut state = amount.as_nanos() as u64;
    while cpu_time() < end {
        for _ in 0..ROUNDS_PER_STEP {
            state = hint::black_box(state ^ (state >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    hint::black_box(state);
}

/// Of this thread.
pub fn cpu_time() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// Of all threads of this process.
pub fn cpu_time_of_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_amount_is_used_up() {
        for amount in [0, 1, 100, 1_000].map(Duration::from_micros) {
            let before = cpu_time();
            burn(amount);
            assert!(cpu_time() - before >= amount);
        }
    }
}
