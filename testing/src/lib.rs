//! What the tests of `clockworker`, `schedulers` and this crate, and the targets of `fuzz/`, share.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`driving`] | polling an executor by hand: one [`tick`](driving::tick), or until it [`settle`](driving::settle)s; a [waker that counts](driving::CountingWaker) |
//! | [`host`] | every [`Host`](host::Host) that an executor runs in, to run the same thing in each |
//! | [`virtual_time`] | [`VirtualTime`](virtual_time::VirtualTime): a clock, alarms and a host, which move when a task works or all wait |
//! | [`programs`] | random programs of tasks, the reference executor that they are compared with, and an audit of what they did |
//! | [`policy`] | the [schedulers](policy::Policy) that come with the library, to try the same thing with each |
//! | [`hostile`] | [`Hostile`](hostile::Hostile): a scheduler that breaks its contract, once, for ever, or as a plan says |
//! | [`panics`] | panics that are meant, and keeping them in; a hook for those that are not |
//! | [`memory`] | how much memory the process has, by an [allocator that counts](memory::COUNTING) |
//! | [`effort`], [`watchdog`] | how much a test tries, by the variables `LONG`, `MINUTES` and `SEED`; giving up work that hangs |
//! | [`trial`] | test programs run on code in which something was broken |
//! | [`climb`] | hill climbing, for tests that search for the worst case |
//! | [`tape`] | bytes that decide, one after the other |
//!
//! Nothing here sleeps, and only [`effort`] reads a clock. The feature `hosts` brings the hosts that need other crates.

#![forbid(unsafe_code)]

pub mod climb;
pub mod driving;
pub mod effort;
pub mod host;
pub mod hostile;
pub mod memory;
pub mod panics;
pub mod policy;
pub mod programs;
pub mod tape;
pub mod trial;
pub mod virtual_time;
pub mod watchdog;
