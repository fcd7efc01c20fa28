//! What the tests share.

#![allow(dead_code, unused_imports, reason = "each program uses a part of it")]

mod bomb;
mod books;
mod case;
mod caught;
mod child;
mod compute;
mod count;
mod drop_log;
mod elsewhere;
mod fluid;
mod hooked_waker;
mod micros;
mod never_rests;
mod on_drop;
mod orders;
mod outputs;
mod panic_place;
mod panics;
mod polls;
mod probe;
mod probed;
mod runtimes;
mod serve;
mod signal;
mod slot;
mod spans;
mod task_panics;
mod trace;
mod usable;
mod yields;

pub(crate) use self::{
    bomb::*, books::*, case::*, caught::*, child::*, compute::*, count::*, drop_log::*, elsewhere::*,
    fluid::*, hooked_waker::*, micros::*, never_rests::*, on_drop::*, orders::*, outputs::*, panic_place::*,
    panics::*, polls::*, probe::*, probed::*, runtimes::*, serve::*, signal::*, slot::*, spans::*,
    task_panics::*, trace::*, usable::*, yields::*,
};
pub(crate) use clockworker_testing::{driving::*, random::*, virtual_time::*};
