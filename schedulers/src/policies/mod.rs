//! The policies, one file for each.

mod arrival_fifo;
mod las;
mod qlas;
mod runnable_fifo;
mod serpt;
mod woken_first;

pub use arrival_fifo::ArrivalFifo;
pub use las::Las;
pub use qlas::Qlas;
pub use runnable_fifo::RunnableFifo;
pub use serpt::Serpt;
pub use woken_first::WokenFirst;
