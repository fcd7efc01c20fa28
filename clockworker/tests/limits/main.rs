//! Limits on what a queue takes: who is refused, who waits for room, and what is counted.

#[path = "../support"]
mod support {
    mod caught;
    mod count;
    mod elsewhere;
    mod hooked_waker;
    mod micros;
    mod never_rests;
    mod on_drop;
    mod outputs;
    mod panics;
    mod signal;
    mod spy;
    mod world;
    mod yields;

    pub(crate) use self::{
        caught::*, count::*, elsewhere::*, hooked_waker::*, micros::*, never_rests::*, on_drop::*,
        outputs::*, panics::*, signal::Signal, spy::*, world::*, yields::*,
    };
    pub(crate) use clockworker_testing::driving::*;
}

mod bounds;
mod hostile_waiters;
mod model;
mod polled;
mod refusals;
mod shedding;
mod waiters;
