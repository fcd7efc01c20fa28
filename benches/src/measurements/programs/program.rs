//! A program: one function, compiled with two sets of imports.

use clap::ValueEnum;

use super::quantity::{Quantity, TIME};
use crate::harness::options::Common;
use crate::harness::pinning::Pinning;

#[derive(Debug)]
pub(super) struct Program {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    /// What it was written for.
    pub(super) base: &'static str,
    pub(super) quantities: &'static [Quantity],
    /// Whether it is run in a process of its own, of which nothing has been used before.
    pub(super) apart: bool,
    pub(super) limit: f64,
    /// Runs it once; a number for each of its quantities.
    pub(super) run: fn(&Setting) -> Vec<f64>,
}

impl Program {
    /// A program for LocalSet, of which one time is measured.
    pub(super) const fn new(key: &'static str, title: &'static str, run: fn(&Setting) -> Vec<f64>) -> Self {
        Program { key, title, base: "LocalSet", quantities: &[TIME], apart: false, limit: 1.05, run }
    }

    pub(super) const fn measuring(self, quantities: &'static [Quantity]) -> Self {
        Program { quantities, ..self }
    }

    pub(super) const fn apart(self) -> Self {
        Program { apart: true, ..self }
    }

    pub(super) const fn within(self, limit: f64) -> Self {
        Program { limit, ..self }
    }
}

/// Whose imports a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Arm {
    /// Those of what it was written for
    Base,
    /// Clockworker's
    Clockworker,
}

impl Arm {
    /// Those of a round. The base that comes twice shows the noise.
    pub(super) const ALL: [Arm; 3] = [Arm::Base, Arm::Base, Arm::Clockworker];

    pub(super) fn key(self) -> &'static str {
        match self {
            Arm::Base => "base",
            Arm::Clockworker => "clockworker",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) common: Common,
    pub(super) pinning: Pinning,
}

impl Setting {
    /// How many of something there are: as usual, or in a quick run.
    pub(super) fn size(&self, usual: usize, quick: usize) -> usize {
        if self.common.quick { quick } else { usual }
    }
}
