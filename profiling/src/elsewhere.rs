//! What stands in for the in-process profilers on systems that they were not written for.

/// In place of the module of this name.
pub(crate) mod flamegraph {
    use crate::cli::FlamegraphOptions;
    use clockworker_benches::failure::Failure;

    pub(crate) fn command(_options: &FlamegraphOptions) -> Result<String, Failure> {
        Err(super::not_here())
    }
}

/// In place of the module of this name.
pub(crate) mod phases {
    use crate::cli::PhasesOptions;
    use clockworker_benches::failure::Failure;

    pub(crate) fn command(_options: &PhasesOptions) -> Result<String, Failure> {
        Err(super::not_here())
    }
}

fn not_here() -> clockworker_benches::failure::Failure {
    clockworker_benches::failure::Failure::request(
        "this profile is taken on Linux on x86-64 and AArch64 only; `run` under samply works here too",
    )
}
