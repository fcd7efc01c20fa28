//! Without signals, stalls have no stacks.

use super::{NoStack, Stack, StallError};

/// The thread that a stack would be asked of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tid;

impl Tid {
    pub(super) fn current() -> Self {
        Tid
    }
}

/// No signal: see `signal.rs` for Linux's.
#[derive(Debug)]
pub(super) struct StackSignal;

impl StackSignal {
    pub(super) fn install(_number: Option<i32>) -> Result<Self, StallError> {
        Ok(StackSignal)
    }

    pub(super) fn stack_of(&self, _thread: Tid, _goes_on: impl Fn() -> bool) -> Result<Stack, NoStack> {
        Err(NoStack::Unsupported)
    }
}
