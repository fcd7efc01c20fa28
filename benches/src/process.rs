//! What this process has of the machine: memory, and files that it may open.

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Resident memory in bytes; NaN where the system does not tell.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse().ok());
    kibibytes.map_or(f64::NAN, |kibibytes: f64| kibibytes * 1_024.0)
}

/// Lets this process, and those it starts, have so many files open.
pub fn allow_files(files: u64) -> Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    if let Some(most) = maximum.filter(|&most| most < files) {
        bail!("{files} files cannot be open at once: the limit is {most}");
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum })
        .with_context(|| format!("{files} files cannot be open at once"))
}
