//! Tasks: polls, wakes, aborts, panics, and what their handles say of the end.

#[path = "../support"]
mod support {
    mod books;
    mod caught;
    mod child;
    mod count;
    mod drop_log;
    mod elsewhere;
    mod hooked_waker;
    mod never_rests;
    mod on_drop;
    mod outputs;
    mod panic_place;
    mod panics;
    mod probe;
    mod task_panics;
    mod yields;

    pub(crate) use self::{
        books::*, caught::*, child::*, count::*, drop_log::*, elsewhere::*, hooked_waker::*, never_rests::*,
        on_drop::*, outputs::*, panic_place::*, panics::*, probe::*, task_panics::*, yields::*,
    };
    pub(crate) use clockworker_testing::{driving::*, random::*};
}

mod abort;
mod abort_delay;
mod faults;
mod handle_matrix;
mod join_matrix;
mod join_set;
mod join_set_waits;
mod old_wakers;
mod panic_locations;
mod panics;
mod unhandled_panic;
mod waker_panics;
mod wakers;
