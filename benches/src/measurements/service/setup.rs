//! How a service is set up: what its process is told.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::arm::Arm;
use crate::serving::host::Host;

/// A service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// What it does its I/O with.
    pub host: Host,
    /// What runs its tasks.
    pub arm: Arm,
    /// Tasks beside the connections that always have work.
    pub compactors: u32,
    /// The CPU time that each uses up between two yields.
    pub chunk: Duration,
}
