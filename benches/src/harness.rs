//! One harness for all measurements.
//!
//! A measurement implements [`Measurement`]: its options, what it wants
//! ([`bars`](measurement::Measurement::bars)), what it says ([`CHAPTER`](measurement::Measurement::CHAPTER)), and its
//! [`plan`](measurement::Measurement::plan), a list of experiments. An [`Experiment`] has
//! [cells](report::Cell), each with the arms that are compared, and takes one [`Sample`] of an arm at a time; most have it taken by
//! a function, in an `experiment::Sampling`.
//!
//! All else is here, once: the [loop of rounds](rounds), which measures arms in a [balanced](balance::Balance) order and divides
//! by the base's sample of the same round; the [report](report::Report), which is the JSON file; verdicts, with those undecided that
//! the A/A arm cannot tell from no difference; and the [command], from the request to the printed chapter. The
//! `report` command reads the same reports and renders the same chapters.
//!
//! An example that is easy to read is [`tail`](crate::measurements::tail), and one with processes is [`service`](crate::measurements::service).

pub(crate) mod child;
pub mod command;
pub mod measurement;
pub mod options;

pub mod balance;
pub mod experiment;
pub mod report;
pub mod rounds;
pub mod sample;
pub(crate) mod workers;

pub mod facts;
pub mod heading;

pub mod pinning;
pub mod target;

pub use balance::in_turns;
pub(crate) use experiment::Sampling;
pub use experiment::{Experiment, Rounds, Window};
pub use facts::Facts;
pub use measurement::{Measurement, Plan};
pub use options::{Asked, Common, base_and_chosen, chosen, options_of, or_default};
pub use pinning::{Pinning, Side};
pub use report::{Arm, Cell, Figure, Report, again, arms, rows};
pub use sample::Sample;
