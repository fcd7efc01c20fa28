//! What the tests share.

#![allow(dead_code, unused_imports, reason = "each program uses a part of it")]

mod child;
mod compute;
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
mod spans;
mod tasks;
mod threads;
mod trace;

pub(crate) use self::{
    child::*, compute::*, drops::*, executors::*, fluid::*, hooked_waker::*, micros::*, orders::*, panics::*,
    probe::*, runtimes::*, signal::*, slot::*, spans::*, tasks::*, threads::*, trace::*,
};
pub(crate) use clockworker_testing::{driving::*, random::*, virtual_time::*};
