//! What stands in for the in-process profilers on systems that they were not written for.

use clockworker_benches::failure::Failure;

/// In place of the module of this name.
pub(crate) mod flamegraph {
    pub(crate) use super::refuse as command;
}

/// In place of the module of this name.
pub(crate) mod phases {
    pub(crate) use super::refuse as command;
}

/// In place of the module of this name.
#[cfg(feature = "observe")]
pub(crate) mod queues {
    pub(crate) use super::refuse as command;
}

pub(crate) fn refuse<Options>(_options: &Options) -> Result<String, Failure> {
    Err(Failure::request(
        "this profile is taken on Linux on x86-64 and AArch64 only; `run` under samply works here too",
    ))
}
