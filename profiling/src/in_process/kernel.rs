//! What the kernel counts for this process.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

/// Page faults without I/O, and CPU time in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) faults: i64,
    user: i64,
    system: i64,
}

impl Counts {
    /// So far. Zero if the kernel does not say.
    pub(super) fn now() -> Self {
        let micros = |time: TimeVal| time.num_microseconds();
        let counts = |usage: Usage| Counts {
            faults: usage.minor_page_faults(),
            user: micros(usage.user_time()),
            system: micros(usage.system_time()),
        };
        getrusage(UsageWho::RUSAGE_SELF).map(counts).unwrap_or_default()
    }

    /// Adds what was counted from `begin` until now.
    pub(super) fn add_since(&mut self, begin: Self) {
        let now = Self::now();
        self.faults += now.faults - begin.faults;
        self.user += now.user - begin.user;
        self.system += now.system - begin.system;
    }

    /// The kernel's part of the CPU time.
    pub(super) fn system_share(self) -> f64 {
        self.system as f64 / (self.user + self.system).max(1) as f64
    }
}
