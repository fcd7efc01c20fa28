//! What every file of results begins with, and every text of them begins and ends with.

use std::io::{self, Write};

use serde::Serialize;

use crate::facts::Facts;

/// Of which kind results are, what was asked for, and on what it ran. `A` is the command line's part.
#[derive(Debug, Serialize)]
pub struct Heading<A> {
    /// What kind of file this is.
    pub schema: &'static str,
    /// The version of that kind. It goes up when a field changes its meaning or goes away, not when one is added.
    pub schema_version: u32,
    /// Why the numbers mean nothing, if they do not.
    pub note: Option<&'static str>,
    /// What was asked for.
    pub arguments: A,
    /// On what it ran.
    pub facts: Facts,
}

impl<A> Heading<A> {
    /// Writes why the numbers mean nothing, if they do not.
    ///
    /// # Errors
    ///
    /// As `out` has them.
    pub fn write_note(&self, out: &mut impl Write) -> io::Result<()> {
        match self.note {
            Some(note) => writeln!(out, "{note}\n"),
            None => Ok(()),
        }
    }

    /// Writes where every random choice started, and the facts.
    ///
    /// # Errors
    ///
    /// As `out` has them.
    pub fn write_facts(&self, seed: u64, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nseed {seed}\n{}", self.facts)
    }
}
