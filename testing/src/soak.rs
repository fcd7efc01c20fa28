//! Rounds of everything at once, with exact books.
//!
//! A [`Round`] makes an executor, queues with every scheduler and now and then a hostile one, threads, and hundreds of tasks
//! that spawn, wake, abort, panic, wait and await at random; and ends it. What it does comes from its seed. A round without
//! threads is the same each time.

mod ledger;
mod round;
mod shared;
mod tasks;

pub use ledger::{Ledger, Tally};
pub use round::{Round, Summary};
