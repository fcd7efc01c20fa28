//! [`PerProcess`]: what a process has once, with locks and threads, and a child process made by a fork has anew.
//!
//! A child has none of its parent's threads, and a lock that one of them held at the fork stays locked. So it leaves its
//! parent's value alone and gets one of its own.

use std::process;
use std::sync::OnceLock;

/// See the [module docs](self). Values are made when they are first asked for, and stay.
pub(crate) struct PerProcess<T>(OnceLock<Entry<T>>);

struct Entry<T> {
    process: u32,
    value: T,
    /// The value of a process that was forked from this one.
    next: OnceLock<Box<Entry<T>>>,
}

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value of the calling process.
    pub(crate) fn get(&self) -> &T {
        let process = process::id();
        let mut entry = self.0.get_or_init(|| Entry::new(process));
        while entry.process != process {
            entry = entry.next.get_or_init(|| Box::new(Entry::new(process)));
        }
        &entry.value
    }
}

impl<T: Default> Entry<T> {
    fn new(process: u32) -> Self {
        Self { process, value: T::default(), next: OnceLock::new() }
    }
}
