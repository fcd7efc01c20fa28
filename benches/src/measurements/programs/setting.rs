//! What a program is given to run with.

use crate::harness::pinning::Pinning;

/// What a program is given to run with.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Whether it is to show only that it works.
    pub quick: bool,
    /// Where its random choices start.
    pub seed: u64,
    /// Where its threads go.
    pub pinning: Pinning,
}

impl Setting {
    /// How many of something there are: as usual, or in a quick run.
    pub fn size(&self, usual: usize, quick: usize) -> usize {
        if self.quick { quick } else { usual }
    }
}
