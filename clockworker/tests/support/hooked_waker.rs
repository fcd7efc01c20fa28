//! A waker that runs code of a test when it is cloned, woken and dropped.

#![allow(unsafe_code, reason = "a waker made by hand")]

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// What is called of a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakerCall {
    Clone,
    Wake,
    Drop,
}

type Hook = (WakerCall, Box<dyn FnOnce()>);

#[derive(Default)]
struct Hooks {
    due: RefCell<Vec<Hook>>,
    calls: [Cell<u32>; 3],
}

/// Runs closures the first time that the waker, or a clone of it, is called. For one thread.
#[derive(Default)]
pub(crate) struct HookedWaker(Rc<Hooks>);

impl HookedWaker {
    pub(crate) fn new(at: WakerCall, then: impl FnOnce() + 'static) -> Self {
        Self::default().on(at, then)
    }

    /// Runs this as well, at its call.
    pub(crate) fn on(self, at: WakerCall, then: impl FnOnce() + 'static) -> Self {
        self.0.due.borrow_mut().push((at, Box::new(then)));
        self
    }

    /// The waker itself, whose drop is no call. It must stay on this thread.
    pub(crate) fn waker(&self) -> ManuallyDrop<Waker> {
        // SAFETY: the table's functions take the data for what `Rc::as_ptr` gave, and `self` is alive while this waker
        // is used. Its clones count references. Tests use it on the thread that made it.
        ManuallyDrop::new(unsafe { Waker::new(Rc::as_ptr(&self.0).cast(), &VTABLE) })
    }

    /// Whether the closures were run.
    pub(crate) fn is_done(&self) -> bool {
        self.0.due.borrow().is_empty()
    }

    /// How often it was called.
    pub(crate) fn calls(&self, of: WakerCall) -> u32 {
        self.0.calls[of as usize].get()
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // First, so that there is no reference of a clone that there is not, if it panics.
        run(data, WakerCall::Clone);
        // SAFETY: see `waker`. The clone's reference.
        unsafe { Rc::increment_strong_count(data.cast::<Hooks>()) };
        RawWaker::new(data, &VTABLE)
    },
    |data| {
        let _reference = Reference(data);
        run(data, WakerCall::Wake);
    },
    |data| run(data, WakerCall::Wake),
    |data| {
        let _reference = Reference(data);
        run(data, WakerCall::Drop);
    },
);

fn run(data: *const (), call: WakerCall) {
    // SAFETY: see `waker`.
    let hooks = unsafe { &*data.cast::<Hooks>() };
    let calls = &hooks.calls[call as usize];
    calls.set(calls.get() + 1);
    let due = hooks.due.borrow().iter().position(|(at, _)| *at == call);
    // No borrow is held while it runs: it may come back here.
    let due = due.map(|at| hooks.due.borrow_mut().remove(at));
    if let Some((_, then)) = due {
        then();
    }
}

/// A clone's reference, which ends also if the hook panics.
struct Reference(*const ());

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: a clone's reference, which ends here.
        unsafe { Rc::decrement_strong_count(self.0.cast::<Hooks>()) };
    }
}
