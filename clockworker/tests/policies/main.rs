//! Scheduling inside a queue: what a policy is told, and what it may get wrong.

#[path = "../support"]
mod support {
    mod books;
    mod child;
    mod micros;
    mod outputs;
    mod panics;
    mod probe;
    mod signal;
    mod task_panics;
    mod trace;
    mod yields;

    pub(crate) use self::{
        books::*, child::*, micros::*, outputs::*, panics::*, probe::*, signal::*, task_panics::*, trace::*,
        yields::*,
    };
    pub(crate) use clockworker_testing::{driving::*, random::*, virtual_time::*};
}

mod attributes;
mod callbacks;
mod changing;
mod handing_over;
mod hostile;
mod order;
mod scheduler_drops;
mod told;
mod watchdog;
