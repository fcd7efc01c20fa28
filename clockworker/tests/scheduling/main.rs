//! Scheduling between queues: shares, preemption, groups, who pays for what, and when the host has its turn.

#[path = "../support"]
mod support {
    mod compute;
    mod fluid;
    mod never_rests;
    mod on_drop;
    mod poll_once;
    mod signal;
    mod sim;
    mod trace;
    mod yields;

    pub(crate) use self::{
        compute::*, fluid::*, never_rests::*, on_drop::*, poll_once::*, signal::*, sim::*, trace::*,
        yields::*,
    };
}

mod accounts;
mod clock;
mod floods;
mod groups;
mod preemption;
mod queues;
mod shares;
mod simulator;
mod sleepers;
mod starvation;
mod stats;
mod visits;
mod yielding;
