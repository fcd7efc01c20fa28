//! The current executor of a thread: that of the latest guard still held.
//!
//! [`Entered`] guards, our own, last as long as a function: they are dropped in the reverse order of their making, and each
//! puts back what it found. [`Held`] guards are users', dropped in any order, so they stand in a list, from which each takes
//! itself. An executor that is entered while the list is not empty stands there too. So the list is always later than what is
//! not in it.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget, take};
use std::rc::Rc;

use super::Core;

thread_local! {
    /// Without a destructor, so that it still works while a thread's other locals, executors among them, are destroyed. The
    /// guard that put an executor here drops it.
    static CONTEXT: Context = const {
        Context {
            entered: Cell::new(ManuallyDrop::new(None)),
            listed: RefCell::new(ManuallyDrop::new(Vec::new())),
            any_listed: Cell::new(false),
            last_number: Cell::new(0),
        }
    };
}

struct Context {
    /// The executor of the latest guard that is not in the list.
    entered: Cell<ManuallyDrop<Option<Rc<Core>>>>,
    /// The guards in the list, in the order of their numbers.
    listed: RefCell<ManuallyDrop<Vec<Listed>>>,
    /// Whether the list holds any. Looked at often.
    any_listed: Cell<bool>,
    last_number: Cell<u64>,
}

struct Listed {
    number: u64,
    core: Rc<Core>,
}

/// Makes an executor the current one until the guard is dropped, which the calling function must do.
#[inline]
pub(crate) fn enter(core: &Rc<Core>) -> Entered {
    CONTEXT.with(|context| {
        if context.any_listed.get() {
            Entered::Listed(hold(core))
        } else {
            Entered::Nested { outer: context.replace(Some(Rc::clone(core))) }
        }
    })
}

/// [`enter`] for each poll of a run's future in a turn. The turn has entered for the first poll; for another it is done anew,
/// as the last may have left guards of other executors.
#[inline]
pub(crate) fn enter_again(core: &Rc<Core>, is_first: &mut bool) -> Option<Entered> {
    if std::mem::take(is_first) { None } else { Some(enter(core)) }
}

/// Makes an executor the current one until the guard is dropped, at any time.
#[cold]
pub(crate) fn hold(core: &Rc<Core>) -> Held {
    CONTEXT.with(|context| {
        let number = context.last_number.get() + 1;
        context.last_number.set(number);
        context.listed.borrow_mut().push(Listed { number, core: Rc::clone(core) });
        context.any_listed.set(true);
        Held { number, _this_thread: PhantomData }
    })
}

/// See [`enter`].
pub(crate) enum Entered {
    Nested { outer: Option<Rc<Core>> },
    Listed(#[expect(dead_code, reason = "held")] Held),
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if let Entered::Nested { outer } = self {
            drop(CONTEXT.with(|context| context.replace(outer.take())));
        }
    }
}

/// See [`hold`].
pub(crate) struct Held {
    number: u64,
    _this_thread: PhantomData<Rc<Core>>,
}

impl Drop for Held {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        drop(CONTEXT.with(|context| context.take_out(self.number)));
    }
}

impl Context {
    #[inline]
    fn replace(&self, core: Option<Rc<Core>>) -> Option<Rc<Core>> {
        ManuallyDrop::into_inner(self.entered.replace(ManuallyDrop::new(core)))
    }

    /// Takes a guard out of the list. The caller drops its executor, when nothing is borrowed any more.
    fn take_out(&self, number: u64) -> Option<Rc<Core>> {
        let listed = &mut **self.listed.borrow_mut();
        let at = listed.binary_search_by_key(&number, |guard| guard.number).ok()?;
        let Listed { core, .. } = listed.remove(at);
        if listed.is_empty() {
            self.any_listed.set(false);
            // Leaves no memory when the thread ends.
            drop(take(listed));
        }
        Some(core)
    }

    #[cold]
    #[inline(never)]
    fn with_latest_listed<T>(&self, look: impl FnOnce(&Core) -> T) -> Option<T> {
        self.latest_listed().as_deref().map(look)
    }

    #[cold]
    fn latest_listed(&self) -> Option<Rc<Core>> {
        self.listed.borrow().last().map(|guard| Rc::clone(&guard.core))
    }
}

/// The current executor, if there is one.
#[inline]
pub(crate) fn current() -> Option<Rc<Core>> {
    CONTEXT.with(|context| {
        if context.any_listed.get() {
            return context.latest_listed();
        }
        let entered = context.replace(None);
        context.replace(entered.clone());
        entered
    })
}

/// Calls `look` with the current executor, if there is one, without counting a reference. `look` must neither come back here
/// nor panic.
#[inline]
pub(crate) fn with_current<T>(look: impl FnOnce(&Core) -> T) -> Option<T> {
    CONTEXT.with(|context| {
        if context.any_listed.get() {
            return context.with_latest_listed(look);
        }
        let lent = context.replace(None);
        let seen = lent.as_deref().map(look);
        forget(context.replace(lent));
        seen
    })
}
