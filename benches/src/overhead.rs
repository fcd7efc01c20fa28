//! What `programs` has of the loop before the harness.

pub mod grid;
pub mod measure;

/// Times as numbers.
pub mod polls {
    pub use crate::stopwatch::nanos;
}
