//! What this process has of the machine: memory, and files that it may open.

/// Resident memory in bytes; NaN where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn bytes() -> f64 {
    let told = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = told.and_then(|told| told.split(' ').nth(1)?.parse::<f64>().ok());
    pages.map_or(f64::NAN, |pages| pages * rustix::param::page_size() as f64)
}

/// Resident memory in bytes; NaN where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub(super) fn bytes() -> f64 {
    f64::NAN
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

/// Lets this process open `files`, if it may let itself.
#[cfg(not(unix))]
pub(super) fn allow_files(_files: u64) {}

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
