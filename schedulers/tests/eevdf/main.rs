//! EEVDF, the choice between queues, and between queues below queues.

mod bench;
mod branches;
mod drained;
#[cfg(feature = "laws")]
#[path = "../eevdf_pair/mod.rs"]
mod eevdf_pair;
mod effects;
mod lag;
mod limits;
#[cfg(feature = "laws")]
mod oracle;
mod service;
mod tree;
