//! A tenant, as both sides know it.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    pub(crate) name: String,
    /// Its share of the queue beside the others'.
    pub(crate) weight: u32,
    pub(crate) connections: usize,
    /// How long each of its clients waits after an answer, at least and at most.
    pub(crate) pause: Option<(Duration, Duration)>,
}
