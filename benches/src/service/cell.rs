//! A cell: services that are compared with each other, beside the same compaction.

use std::time::Duration;

use serde::Serialize;

use super::arm::Arm;
use super::options::Options;
use super::setup::Setup;
use crate::failure::Failure;
use crate::tcp::setup::Host;

/// Services that are compared, beside the same compaction.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it is for.
    pub shape: Shape,
    /// What runs the services' tasks; the first is what the others are measured by.
    pub arms: Vec<Arm>,
    /// What tells this cell's random numbers from those of others.
    pub part: u64,
}

/// Host and compaction of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The services' host.
    pub host: Host,
    /// Tasks beside the connections that always have work.
    pub compactors: u32,
    /// The CPU time that each uses up between two yields, in microseconds, if there are any.
    pub chunk_us: Option<u32>,
}

/// The cells that are asked for, in the order in which they run.
///
/// # Errors
///
/// If there is nothing to compare.
pub fn plan(options: &Options) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for host in options.hosts() {
        let arms = options.arms(host);
        if arms.len() < 2 {
            let reason =
                format!("--arms: there is nothing to compare with {} on {}", host.native(), host.title());
            return Err(Failure::request(reason));
        }
        for (compactors, chunk_us) in options.loads() {
            let shape = Shape { host, compactors, chunk_us };
            cells.push(Cell { shape, arms: arms.clone(), part: cells.len() as u64 });
        }
    }
    Ok(cells)
}

impl Shape {
    /// How much compaction there is, in a few words.
    pub fn load(&self) -> String {
        match self.chunk_us {
            None => "none".to_owned(),
            Some(chunk) => format!("{} × {chunk} µs", self.compactors),
        }
    }
}

impl Cell {
    /// In a few words.
    pub fn title(&self) -> String {
        format!("{}, compactors: {}", self.shape.host.title(), self.shape.load())
    }

    /// How the services are set up.
    pub fn setups(&self) -> impl Iterator<Item = Setup> {
        let Shape { host, compactors, chunk_us } = self.shape;
        let chunk = Duration::from_micros(chunk_us.unwrap_or(0).into());
        self.arms.iter().map(move |&arm| Setup { host, arm, compactors, chunk })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Parsed, parse};
    use std::ffi::OsString;

    fn cells(line: &str) -> Result<Vec<Cell>, Failure> {
        let line = format!("program service --host tokio {line}");
        match parse(line.split_whitespace().map(OsString::from)) {
            Parsed::Service(options) => plan(&options),
            other => panic!("'{line}' was taken as {other:?}"),
        }
    }

    #[test]
    fn every_combination_is_a_cell_and_no_compactors_are_one() {
        let titles: Vec<String> =
            cells("--compactors 0,4 --chunks 20,100").unwrap().iter().map(Cell::title).collect();
        let wanted =
            ["tokio, compactors: none", "tokio, compactors: 4 × 20 µs", "tokio, compactors: 4 × 100 µs"];
        assert_eq!(titles, wanted);
    }

    #[test]
    fn nothing_to_compare_with_is_refused() {
        assert!(cells("--arms native").is_err());
    }
}
