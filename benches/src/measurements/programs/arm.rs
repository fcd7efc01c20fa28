//! Who runs a program.

use clap::ValueEnum;

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arm {
    /// What it was written for.
    Base,
    /// Clockworker.
    Clockworker,
}

impl Arm {
    /// Those of a round. The base that comes twice shows the noise.
    pub const ALL: [Arm; 3] = [Arm::Base, Arm::Base, Arm::Clockworker];

    /// The name on the command line and in the file of results.
    pub fn key(self) -> &'static str {
        match self {
            Arm::Base => "base",
            Arm::Clockworker => "clockworker",
        }
    }
}
