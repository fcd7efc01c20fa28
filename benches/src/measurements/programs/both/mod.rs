//! Programs that are written for `LocalSet`. What compiles them has a module `task` beside this one, with the names of
//! `tokio::task`.

use super::task;

pub(crate) mod actors;
pub(crate) mod calls;
pub(crate) mod channels;
pub(crate) mod joined;
pub(crate) mod locks;
pub(crate) mod mains;
pub(crate) mod memory;
pub(crate) mod services;
pub(crate) mod spawns;
mod support;
pub(crate) mod timers;
