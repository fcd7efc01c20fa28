//! Executors: used from destructors and other threads, dropped in any order, forked; a million tasks.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod child;
    mod count;
    mod counting_waker;
    mod drop_log;
    mod hooked_waker;
    mod host;
    mod on_drop;
    mod outputs;
    mod panics;
    mod poll_once;
    mod probe;
    mod random;
    mod untimed;
    mod yields;

    pub(crate) use self::{
        books::*, caught::*, child::*, count::*, counting_waker::*, drop_log::*, hooked_waker::*, host::*,
        on_drop::*, outputs::*, panics::*, poll_once::*, probe::*, random::*, untimed::*, yields::*,
    };
}

mod drop_thread;
mod executor_drop;
#[cfg(unix)]
mod fork;
mod lifetimes;
mod reentrancy;
mod remote;
mod scale;
mod traits;
