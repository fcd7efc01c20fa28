//! Tasks: polls, wakes, aborts, panics, and what their handles say of the end.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod child;
    mod count;
    mod counting_waker;
    mod drop_log;
    mod elsewhere;
    mod hooked_waker;
    mod host;
    mod never_rests;
    mod on_drop;
    mod outputs;
    mod panic_place;
    mod panics;
    mod poll_once;
    mod probe;
    mod random;
    mod task_panics;
    mod untimed;
    mod yields;

    pub(crate) use self::{
        books::*, caught::*, child::*, count::*, counting_waker::*, drop_log::*, elsewhere::*,
        hooked_waker::*, host::*, never_rests::*, on_drop::*, outputs::*, panic_place::*, panics::*,
        poll_once::*, probe::*, random::*, task_panics::*, untimed::*, yields::*,
    };
}

mod abort;
mod abort_delay;
mod faults;
mod handle_matrix;
mod join_matrix;
mod join_set;
mod old_wakers;
mod panic_locations;
mod panics;
mod unhandled_panic;
mod waker_panics;
mod wakers;
