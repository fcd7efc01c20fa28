//! What `tcp` and `programs` have of reports before the harness.

pub use crate::harness::heading::note;
