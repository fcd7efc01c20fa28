//! Queues below queues.

mod bound;
mod calls;
#[cfg(feature = "laws")]
mod oracle;
mod shares;
