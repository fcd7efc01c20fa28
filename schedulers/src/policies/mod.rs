//! The policies: a file or a folder for each kind.

mod by_attained;
mod by_key;
mod fair_groups;
mod runnable_fifo;
mod woken_first;

pub use by_attained::{Las, Qlas, Serpt};
pub use by_key::{Deadline, Late, Priority};
pub use fair_groups::FairGroups;
pub use runnable_fifo::RunnableFifo;
pub use woken_first::WokenFirst;
