//! Runs: how far one poll of `run_until` goes, who wakes the host, which executor is current, and the last run of all.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod count;
    mod counting_waker;
    mod host;
    mod never_rests;
    mod on_drop;
    mod outputs;
    mod panics;
    mod poll_once;
    mod probe;
    mod random;
    mod task_panics;
    mod untimed;
    mod yields;

    pub(crate) use self::{
        books::*, caught::*, count::*, counting_waker::*, host::*, never_rests::*, on_drop::*, outputs::*,
        panics::*, poll_once::*, probe::*, random::*, task_panics::*, untimed::*, yields::*,
    };
}

mod drained;
mod driving;
mod enter;
mod host_wakes;
mod run_until;
mod shutdown;
