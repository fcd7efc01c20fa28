//! Executors: used from destructors and other threads, dropped in any order, forked; a million tasks.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod child;
    mod count;
    mod drop_log;
    mod hooked_waker;
    mod on_drop;
    mod outputs;
    mod panics;
    mod probe;
    mod yields;

    pub(crate) use self::{
        books::*, caught::*, child::*, count::*, drop_log::*, hooked_waker::*, on_drop::*, outputs::*,
        panics::*, probe::*, yields::*,
    };
    pub(crate) use clockworker_testing::{driving::*, random::*};
}

mod asked;
mod drop_thread;
mod executor_drop;
mod finding;
#[cfg(unix)]
mod fork;
mod lifetimes;
mod reentrancy;
mod remote;
mod scale;
mod traits;
