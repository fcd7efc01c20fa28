//! All programs, with both sets of imports.

#![allow(
    clippy::duplicate_mod,
    reason = "every program is compiled with two sets of imports: that is the point"
)]

use super::program::Program;

#[path = "."]
mod on_local_set {
    mod task {
        pub(super) use tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};
    }

    #[path = "both/mod.rs"]
    pub(super) mod both;
}

#[path = "."]
mod on_clockworker {
    mod task {
        pub(super) use clockworker::compat::{JoinSet, LocalSet, spawn_local, yield_now};
    }

    #[path = "both/mod.rs"]
    pub(super) mod both;
}

#[cfg(target_os = "linux")]
#[path = "."]
mod on_monoio {
    mod task {
        use crate::arms::{monoio::Monoio, runner::Runner};
        pub(super) use monoio::spawn;

        pub(super) fn run<F: Future>(main: F) -> F::Output {
            Monoio::default().block_on(main)
        }
    }

    pub(super) mod requests;
}

#[cfg(target_os = "linux")]
#[path = "."]
mod on_clockworker_in_monoio {
    mod task {
        use crate::arms::{monoio::Monoio, runner::Runner};
        use clockworker::Executor;
        pub(super) use clockworker::spawn_local as spawn;

        pub(super) fn run<F: Future>(main: F) -> F::Output {
            let executor = Executor::new();
            Monoio::default().block_on(executor.run_until(main))
        }
    }

    pub(super) mod requests;
}

/// Every program with the imports of what it was written for, and with Clockworker's, in the order of the table.
pub(super) fn programs() -> impl Iterator<Item = [&'static Program; 2]> {
    let programs = on_local_set::both::PROGRAMS.iter().zip(on_clockworker::both::PROGRAMS);
    #[cfg(target_os = "linux")]
    let programs =
        programs.chain([(&on_monoio::requests::PROGRAM, &on_clockworker_in_monoio::requests::PROGRAM)]);
    programs.map(Into::into)
}

pub(super) fn titles() -> String {
    let line = |[program, _]: [&Program; 2]| {
        let measured: Vec<&str> = program.quantities.iter().map(|quantity| quantity.title).collect();
        format!("{:24}{} ({})\n", program.key, program.title, measured.join(", "))
    };
    programs().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_and_titles_are_of_one_program_each() {
        let keys: BTreeSet<&str> = programs().map(|[program, _]| program.key).collect();
        let titles: BTreeSet<&str> = programs().map(|[program, _]| program.title).collect();
        assert_eq!([keys.len(), titles.len()], [programs().count(); 2]);
    }
}
