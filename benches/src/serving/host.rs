//! The runtime that does a server's I/O.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Host {
    /// monoio, on io_uring where the kernel has it for us, else on its legacy driver
    #[cfg_attr(not(target_os = "linux"), value(skip))]
    Monoio,
    /// tokio's current-thread runtime
    Tokio,
    /// smol
    Smol,
}

impl Host {
    pub fn title(self) -> &'static str {
        match self {
            Host::Monoio => "monoio",
            Host::Tokio => "tokio",
            Host::Smol => "smol",
        }
    }

    /// What its own spawn is called.
    pub fn native(self) -> &'static str {
        match self {
            Host::Monoio => "monoio spawn",
            Host::Tokio => "tokio LocalSet",
            Host::Smol => "smol LocalExecutor",
        }
    }
}
