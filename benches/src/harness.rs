//! One harness for all measurements.
//!
//! A [`Measurement`] is a command: it has experiments, and makes tables of what they found. An [`Experiment`] compares arms:
//! it takes one [`Sample`] of an arm at a time. All else is here, once: rounds in balanced order, in [processes](child) of their
//! own where that is wanted, ratios within a round, their [intervals](sign_test), the [`Table`], and the [run](run::run) with
//! the [facts](Facts) of the machine as text, JSON and Markdown.

pub mod child;
pub mod comparison;
pub mod experiment;
pub mod facts;
pub mod numbers;
pub mod options;
pub mod pinning;
pub mod run;
pub mod sample;
pub mod sign_test;
pub mod table;

pub use comparison::{Arm, Comparison, Figure, Ratio};
pub use experiment::{Experiment, Processes, Window};
pub use facts::Facts;
pub use options::Options;
pub use pinning::{Pinning, Side};
pub use run::{Found, Measurement};
pub use sample::Sample;
pub use table::{Cell, Table, Unit};
