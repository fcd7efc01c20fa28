//! Runs: how far one poll of `run_until` goes, when the host has its turn, and who wakes it.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod counting_waker;
    mod host;
    mod on_drop;
    mod outputs;
    mod panics;
    mod poll_once;
    mod probe;
    mod random;
    mod task_panics;
    mod untimed;

    pub(crate) use self::{
        books::*, caught::*, counting_waker::*, host::*, on_drop::*, outputs::*, panics::*, poll_once::*,
        probe::*, random::*, task_panics::*, untimed::*,
    };
}

mod drained;
mod driving;
mod enter;
mod host_wakes;
mod run_until;
mod shutdown;
