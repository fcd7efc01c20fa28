//! What this process has of the machine: memory, and files that it may open.

/// Resident memory in bytes; NaN where the system does not tell.
pub(super) fn bytes() -> f64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes =
        told.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse().ok());
    kibibytes.map_or(f64::NAN, |kibibytes: f64| kibibytes * 1_024.0)
}

/// Lets this process open `files`, if it may let itself.
#[cfg(unix)]
pub(super) fn allow_files(files: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < files) {
        // If it may not, opening one too many says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_written_to_is_resident() {
        let before = bytes();
        let written = vec![1_u8; 64 << 20];
        assert!(bytes() - before > f64::from(32 << 20), "{} bytes", written.len());
    }
}
