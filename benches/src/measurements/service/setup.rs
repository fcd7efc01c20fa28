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

impl Setup {
    /// Reads what [`written`](Setup::written) wrote.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// As an argument of the command line.
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("it has neither maps nor anything that can fail")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_is_read_as_it_was_written() {
        let chunk = Duration::from_micros(100);
        let setup = Setup { host: Host::Tokio, arm: Arm::TwoQueues, compactors: 4, chunk };
        assert_eq!(Setup::read(&setup.written()), Ok(setup));
        assert!(Setup::read("{}").is_err());
    }
}
