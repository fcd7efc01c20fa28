//! The folders in which runs leave files that the command line gave no path for.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::failure::Failure;

/// A folder in cargo's target folder, or in `target` where the program is run.
pub fn folder(name: &str) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from).join(name)
}

/// Makes the folder of one run in `parent`, named by date, time and seed, and by a number if that was taken.
pub fn folder_of_run(parent: &Path, seed: u64) -> Result<PathBuf, Failure> {
    let unwritable = |error: io::Error| Failure::unwritable(parent, error.kind());
    fs::create_dir_all(parent).map_err(unwritable)?;
    let name = format!("{}-seed{seed}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ"));
    let mut folder = parent.join(&name);
    for number in 2.. {
        match fs::create_dir(&folder) {
            Ok(()) => break,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder = parent.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(unwritable(error)),
        }
    }
    Ok(folder)
}
