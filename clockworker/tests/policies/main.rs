//! Scheduling inside a queue: what a policy is told, and what it may get wrong.

#[path = "../support"]
mod support {
    mod books;
    mod child;
    mod elsewhere;
    mod micros;
    mod on_drop;
    mod outputs;
    mod panics;
    mod probe;
    mod signal;
    mod spy;
    mod task_panics;
    mod world;
    mod yields;

    pub(crate) use self::{
        books::*, child::*, elsewhere::*, micros::*, on_drop::*, outputs::*, panics::*, probe::*, signal::*,
        spy::*, task_panics::*, world::*, yields::*,
    };
    pub(crate) use clockworker_testing::driving::*;
}

mod attributes;
mod audit;
mod callbacks;
mod changing;
mod handing_over;
mod hostile;
mod order;
mod scheduler_drops;
mod watchdog;
