//! The standard library's types.

pub(crate) use std::cell::{Cell, UnsafeCell};
#[cfg(all(feature = "monoio", target_os = "linux"))]
pub(crate) use std::sync::atomic::AtomicU8;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, fence};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};
pub(crate) use std::thread::{self, Thread};

pub(crate) use futures_util::task::AtomicWaker;

pub(crate) use super::thread_id::ThreadId;
pub(crate) use super::wake::{impl_wake, reclaim, waker_of};
