//! Which executor the calling code runs under.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use crate::core::Core;

thread_local! {
    /// Without a destructor, so that it still works while a thread's other locals, executors among them, are destroyed.
    /// What it holds is dropped by the guard that put it there.
    static CURRENT: RefCell<ManuallyDrop<Option<Rc<Core>>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Makes an executor the current one until the guard is dropped.
pub(crate) fn enter(core: &Rc<Core>) -> Entered {
    let outer = replace(Some(Rc::clone(core)));
    Entered { outer }
}

/// Restores what was current before.
pub(crate) struct Entered {
    outer: Option<Rc<Core>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        drop(replace(self.outer.take()));
    }
}

fn replace(core: Option<Rc<Core>>) -> Option<Rc<Core>> {
    CURRENT.with(|current| ManuallyDrop::into_inner(current.replace(ManuallyDrop::new(core))))
}

/// The current executor, if there is one.
pub(crate) fn current() -> Option<Rc<Core>> {
    CURRENT.with(|current| Option::clone(&current.borrow()))
}

/// The process was forked by what this thread was doing: ends the copied run, if there is one. Called in the child.
///
/// (Of runs inside each other, the innermost. The others find out at the end of their slices.)
#[cfg(unix)]
pub(crate) fn interrupt() {
    CURRENT.with(|current| {
        if let Ok(current) = current.try_borrow()
            && let Some(core) = current.as_deref()
        {
            core.interrupt();
        }
    });
}

/// Looks at the current executor, if there is one, without counting a reference.
#[inline]
pub(crate) fn with_current<T>(look: impl FnOnce(&Core) -> T) -> Option<T> {
    CURRENT.with(|current| current.borrow().as_deref().map(look))
}
