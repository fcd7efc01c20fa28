//! Scheduling between queues: shares, preemption, groups, who pays for what, and when the host has its turn.

#[path = "../support"]
mod support {
    mod fluid;
    mod micros;
    mod never_rests;
    mod on_drop;
    mod signal;
    mod spy;
    mod world;
    mod yields;

    pub(crate) use self::{
        fluid::*, micros::*, never_rests::*, on_drop::*, signal::*, spy::*, world::*, yields::*,
    };
    pub(crate) use clockworker_testing::{climb::*, driving::*, virtual_time::*};
}

mod accounts;
mod caps;
mod clock;
mod floods;
mod group_stats;
mod groups;
mod idle;
mod lending;
mod lifetimes;
mod nested;
mod preemption;
mod queues;
mod random;
mod readings;
mod shares;
mod simulator;
mod since;
mod sleepers;
mod starvation;
mod stats;
mod visits;
mod yielding;
