//! EEVDF, the choice between queues.

mod bench;
#[cfg(feature = "laws")]
#[path = "../eevdf_pair/mod.rs"]
mod eevdf_pair;
mod lag;
mod limits;
#[cfg(feature = "laws")]
mod oracle;
mod service;
