//! What can be measured. Each is a [`Measurement`](crate::harness::measurement::Measurement).

pub mod actions;
pub mod arm;
pub mod budgets;
pub mod compare;
pub mod overhead;
pub mod priority;
pub mod programs;
pub mod service;
pub mod sessions;
pub mod tail;
pub mod tcp;
pub mod tenants;

use clap::ValueEnum;

/// What has a name on the command line, which files of results and tables have too.
pub trait Keyed: ValueEnum {
    fn key(&self) -> String {
        self.to_possible_value().expect("no value is hidden").get_name().to_owned()
    }
}

impl<T: ValueEnum> Keyed for T {}
