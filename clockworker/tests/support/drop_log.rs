//! Which threads drop what.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// Which threads dropped things.
#[derive(Clone, Debug, Default)]
pub(crate) struct DropLog(Arc<Mutex<Vec<ThreadId>>>);

impl DropLog {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Something whose drop is logged. Not `Send`.
    pub(crate) fn local(&self) -> (LoggedDrop, Rc<()>) {
        (LoggedDrop(self.clone()), Rc::new(()))
    }

    /// Something whose drop is logged.
    pub(crate) fn item(&self) -> LoggedDrop {
        LoggedDrop(self.clone())
    }

    fn threads(&self) -> Vec<ThreadId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.threads().len()
    }

    /// There were `n` drops, and this thread did them all.
    #[track_caller]
    pub(crate) fn assert_here(&self, n: usize) {
        assert_eq!(self.threads(), vec![thread::current().id(); n]);
    }
}

#[derive(Debug)]
pub(crate) struct LoggedDrop(pub(crate) DropLog);

impl Drop for LoggedDrop {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(thread::current().id());
    }
}
