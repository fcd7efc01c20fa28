//! Limits on what a queue takes: who is refused, who waits for room, and what is counted.

#[path = "../support"]
mod support {
    mod caught;
    mod count;
    mod hooked_waker;
    mod micros;
    mod on_drop;
    mod outputs;
    mod panics;
    mod yields;

    pub(crate) use self::{
        caught::*, count::*, hooked_waker::*, micros::*, on_drop::*, outputs::*, panics::*, yields::*,
    };
    pub(crate) use clockworker_testing::{driving::*, random::*, virtual_time::*};
}

mod bounds;
mod groups;
mod hostile_waiters;
mod model;
mod polled;
mod refusals;
mod shedding;
mod waiters;
