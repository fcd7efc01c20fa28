//! Runs: how far one poll of `run_until` goes, who wakes the host, which executor is current, and the last run of all.

mod drain;
mod drained;
mod driving;
mod enter;
mod host_wakes;
mod run_until;
mod shutdown;
mod steps;
