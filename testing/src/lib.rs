//! What the tests of `clockworker/tests`, the programs of `reliability/` and the targets of `fuzz/` share.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`driving`] | polling an executor by hand: one [`tick`](driving::tick), or until it [`settle`](driving::settle)s; a [waker that counts](driving::CountingWaker) |
//! | [`host`] | every [`Host`](host::Host) that an executor runs in, to run the same thing in each |
//! | [`virtual_time`] | [`VirtualTime`](virtual_time::VirtualTime): a clock, alarms and a host, which move when a task works or all wait |
//! | [`programs`] | random programs of tasks, and the reference executor that they are compared with |
//! | [`policy`] | the [schedulers](policy::Policy) that come with the library, to try the same thing with each |
//! | [`hostile`] | [`Hostile`](hostile::Hostile): a scheduler that breaks its contract, once, for ever, or as a plan says |
//! | [`hostile_program`] | programs of tasks on a queue whose scheduler is hostile, beside one whose scheduler is not: a fuzz target, and a test |
//! | [`aborts`], [`containment`], [`soak`] | scenes that keep books of themselves: aborts in every phase, a panic at every place, and everything at once |
//! | [`panics`], [`quiet`] | panics that are meant, and keeping them in; a hook for those that are not |
//! | [`memory`] | how much memory the process has, by an [allocator that counts](memory::COUNTING) |
//! | [`pulse`] | a count of what work has done, for its watchdog |
//! | [`climb`] | hill climbing, for tests that search for the worst case |
//! | [`random`], [`tape`] | random numbers that a seed repeats; bytes that decide, one after the other |
//!
//! Nothing here sleeps or reads a clock. The feature `hosts` brings the hosts that need other crates.

#![forbid(unsafe_code)]

pub mod climb;
pub mod driving;
pub mod host;
pub mod hostile;
pub mod memory;
pub mod panics;
pub mod policy;
pub mod programs;
pub mod pulse;
pub mod quiet;
pub mod random;
pub mod tape;
pub mod virtual_time;
