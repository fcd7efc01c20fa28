//! An executor without time.

use clockworker::{Executor, ManualClock};

/// An executor whose time stands still: a turn of the host ends when nothing is ready or at the poll cap, and not because
/// the machine was slow or busy.
pub(crate) fn untimed() -> Executor {
    Executor::builder().clock(ManualClock::new()).build().unwrap()
}
