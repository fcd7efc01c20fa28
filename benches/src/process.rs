//! What this process has of the machine: CPU time, memory, and files that it may open.

use anyhow::{Context, Result, bail};
#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// CPU time of all threads; zero where the system does not tell.
#[cfg(unix)]
pub fn cpu_time() -> std::time::Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ProcessCPUTime);
    std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
pub fn cpu_time() -> std::time::Duration {
    std::time::Duration::ZERO
}

/// Resident memory in bytes; NaN where the system does not tell.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse().ok());
    kibibytes.map_or(f64::NAN, |kibibytes: f64| kibibytes * 1_024.0)
}

/// Lets this process, and those it starts, have so many files open.
#[cfg(unix)]
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

#[cfg(not(unix))]
pub fn allow_files(_files: u64) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_written_to_is_resident() {
        let before = resident_bytes();
        let written = vec![1_u8; 64 << 20];
        assert!(resident_bytes() - before > f64::from(32 << 20), "{} bytes", written.len());
    }
}
