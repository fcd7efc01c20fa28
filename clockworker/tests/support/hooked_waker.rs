//! A waker that runs code of a test when it is cloned, woken and dropped.

#![allow(unsafe_code, reason = "a waker made by hand")]

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// What a waker can be made to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Clone,
    Wake,
    Drop,
}

type Hook = (Deed, Box<dyn FnOnce()>);

/// Runs a closure the first time that the waker, or a clone of it, does something. For one thread.
pub(crate) struct HookedWaker(Rc<RefCell<Option<Hook>>>);

impl HookedWaker {
    pub(crate) fn new(at: Deed, then: impl FnOnce() + 'static) -> Self {
        Self(Rc::new(RefCell::new(Some((at, Box::new(then))))))
    }

    /// The waker itself, whose drop is no deed. It must stay on this thread.
    pub(crate) fn waker(&self) -> ManuallyDrop<Waker> {
        // SAFETY: the table's functions take the data for what `Rc::as_ptr` gave, and `self` is alive while this waker
        // is used. Its clones count references. Tests use it on the thread that made it.
        ManuallyDrop::new(unsafe { Waker::new(Rc::as_ptr(&self.0).cast(), &VTABLE) })
    }

    /// Whether the closure was run.
    pub(crate) fn is_done(&self) -> bool {
        self.0.borrow().is_none()
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // First, so that there is no reference of a clone that there is not, if it panics.
        run(data, Deed::Clone);
        // SAFETY: see `waker`. The clone's reference.
        unsafe { Rc::increment_strong_count(data.cast::<RefCell<Option<Hook>>>()) };
        RawWaker::new(data, &VTABLE)
    },
    |data| {
        let _reference = Reference(data);
        run(data, Deed::Wake);
    },
    |data| run(data, Deed::Wake),
    |data| {
        let _reference = Reference(data);
        run(data, Deed::Drop);
    },
);

fn run(data: *const (), deed: Deed) {
    // SAFETY: see `waker`.
    let hook = unsafe { &*data.cast::<RefCell<Option<Hook>>>() };
    // No borrow is held while it runs: it may come back here.
    let due = hook.borrow_mut().take_if(|(at, _)| *at == deed);
    if let Some((_, then)) = due {
        then();
    }
}

/// A clone's reference, which ends also if the hook panics.
struct Reference(*const ());

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: a clone's reference, which ends here.
        unsafe { Rc::decrement_strong_count(self.0.cast::<RefCell<Option<Hook>>>()) };
    }
}
