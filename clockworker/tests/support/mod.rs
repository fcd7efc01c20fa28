//! What the tests share.

#![allow(dead_code, unused_imports, reason = "each program uses a part of it")]

mod child;
mod drops;
mod executors;
mod fluid;
mod hooked_waker;
mod micros;
mod orders;
mod panics;
mod probe;
mod runtimes;
mod signal;
mod slot;
mod spy;
mod tasks;
mod threads;
mod world;

pub(crate) use self::{
    child::*, drops::*, executors::*, fluid::*, hooked_waker::*, micros::*, orders::*, panics::*, probe::*,
    runtimes::*, signal::*, slot::*, spy::*, tasks::*, threads::*, world::*,
};
pub(crate) use clockworker_testing::{climb::*, driving::*, virtual_time::*};
