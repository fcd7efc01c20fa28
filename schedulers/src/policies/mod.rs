//! The policies, one file for each.

mod by_attained;
mod deadline;
mod fair_groups;
mod las;
mod priority;
mod qlas;
mod runnable_fifo;
mod serpt;
mod woken_first;

pub use deadline::{Deadline, Late};
pub use fair_groups::FairGroups;
pub use las::Las;
pub use priority::Priority;
pub use qlas::Qlas;
pub use runnable_fifo::RunnableFifo;
pub use serpt::Serpt;
pub use woken_first::WokenFirst;
