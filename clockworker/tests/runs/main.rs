//! Runs: how far one poll of `run_until` goes, who wakes the host, which executor is current, and the last run of all.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod count;
    mod never_rests;
    mod on_drop;
    mod outputs;
    mod panics;
    mod probe;
    mod task_panics;
    mod yields;

    pub(crate) use self::{
        books::*, caught::*, count::*, never_rests::*, on_drop::*, outputs::*, panics::*, probe::*,
        task_panics::*, yields::*,
    };
    pub(crate) use clockworker_testing::{driving::*, random::*};
}

mod drained;
mod driving;
mod enter;
mod host_wakes;
mod run_until;
mod shutdown;
