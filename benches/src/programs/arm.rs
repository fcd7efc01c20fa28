//! Who runs a program.

use clap::ValueEnum;

use super::program::Base;
use crate::overhead::measure::Row;

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// What it was written for.
    Base,
    /// The same once more: the noise floor.
    BaseAgain,
    /// Clockworker.
    Clockworker,
}

impl Arm {
    /// All of them, in the order of the rows of a grid.
    pub const ALL: [Arm; 3] = [Arm::Base, Arm::BaseAgain, Arm::Clockworker];

    /// The name on the command line and in a grid.
    pub fn key(self) -> &'static str {
        match self {
            Arm::Base => "base",
            Arm::BaseAgain => "base_again",
            Arm::Clockworker => "clockworker",
        }
    }

    /// As measures have it.
    pub fn row(self, base: Base) -> Row {
        let title = match self {
            Arm::Base => base.title().to_owned(),
            Arm::BaseAgain => format!("{} again (A/A)", base.title()),
            Arm::Clockworker => "Clockworker".to_owned(),
        };
        Row { key: self.key().to_owned(), title }
    }
}
