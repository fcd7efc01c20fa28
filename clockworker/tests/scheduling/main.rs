//! Scheduling between queues: shares, preemption, groups, and who pays for what.

#[path = "../support"]
mod support {
    mod fluid;
    mod on_drop;
    mod poll_once;
    mod signal;
    mod sim;
    mod trace;

    pub(crate) use self::{fluid::*, on_drop::*, poll_once::*, signal::*, sim::*, trace::*};
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
