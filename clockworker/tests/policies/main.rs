//! Scheduling inside a queue: what a policy is told, and what it may get wrong.

#[path = "../support"]
mod support {
    mod books;
    mod child;
    mod counting_waker;
    mod host;
    mod outputs;
    mod panics;
    mod poll_once;
    mod probe;
    mod random;
    mod signal;
    mod sim;
    mod task_panics;
    mod trace;
    mod untimed;
    mod yields;

    pub(crate) use self::{
        books::*, child::*, counting_waker::*, host::*, outputs::*, panics::*, poll_once::*, probe::*,
        random::*, signal::*, sim::*, task_panics::*, trace::*, untimed::*, yields::*,
    };
}

mod callbacks;
mod handing_over;
mod hostile;
mod order;
mod scheduler_drops;
mod watchdog;
