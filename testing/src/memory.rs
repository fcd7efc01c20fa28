//! How much memory the process has: what it has asked for and not given back, and what the kernel keeps for it.

use std::alloc::System;
use std::fs;
use std::ops::Sub;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// The type of the allocator that counts.
pub type Counting = &'static StatsAlloc<System>;

/// The allocator that counts. A program installs it for its process, as its `#[global_allocator]`.
pub const COUNTING: Counting = &INSTRUMENTED_SYSTEM;

/// Memory that is allocated, where [`COUNTING`] is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// Bytes asked for and not given back.
    pub bytes: i64,
    /// In so many pieces.
    pub pieces: i64,
    /// How often memory was asked for, or for more of it, so far.
    pub requests: i64,
}

impl Allocated {
    /// At this moment, by all threads.
    ///
    /// # Panics
    ///
    /// Where nothing counts, as the program does not install [`COUNTING`].
    pub fn now() -> Self {
        let stats = INSTRUMENTED_SYSTEM.stats();
        assert!(stats.allocations > 0, "nothing counts allocations in this program");
        let left = |came: usize, went: usize| came.wrapping_sub(went) as i64;
        Allocated {
            bytes: left(stats.bytes_allocated, stats.bytes_deallocated),
            pieces: left(stats.allocations, stats.deallocations),
            requests: (stats.allocations + stats.reallocations) as i64,
        }
    }
}

impl Sub for Allocated {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Allocated {
            bytes: self.bytes - before.bytes,
            pieces: self.pieces - before.pieces,
            requests: self.requests - before.requests,
        }
    }
}

/// Resident memory of this process in bytes. None where `/proc` does not tell.
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
