//! What a run leaves behind: one folder per run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::failure::Failure;

/// The folder of one run.
#[derive(Debug)]
pub struct Artefacts(PathBuf);

impl Artefacts {
    /// Makes the folder in `parent`, named by date, time and seed, and by a number if that was taken.
    pub fn create(parent: &Path, seed: u64) -> Result<Self, Failure> {
        let unwritable = |error: io::Error| Failure::unwritable(parent, error.kind());
        fs::create_dir_all(parent).map_err(unwritable)?;
        let name = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let names = (1..).map(|number| match number {
            1 => format!("{name}-seed{seed}"),
            _ => format!("{name}-seed{seed}-{number}"),
        });
        for name in names {
            let folder = parent.join(name);
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Artefacts(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(error)),
            }
        }
        unreachable!("there is always one more number")
    }

    /// Writes the report, as JSON and as the text that is printed.
    pub fn write(&self, report: &impl Serialize, text: &str) -> Result<(), Failure> {
        let write = |name: &str, body: &dyn Fn(&mut BufWriter<File>) -> io::Result<()>| {
            let path = self.0.join(name);
            save(&path, body)
                .map_err(|error| Failure::run(format!("cannot write '{}': {error}", path.display())))
        };
        write("result.json", &|out| Ok(serde_json::to_writer(out, report)?))?;
        write("report.txt", &|out| out.write_all(text.as_bytes()))
    }
}

fn save(path: &Path, body: &dyn Fn(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    body(&mut out)?;
    out.flush()
}
