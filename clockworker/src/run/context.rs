//! Which executor the calling code runs under: that of the latest guard still held.
//!
//! Guards of our own ([`Entered`]) last as long as a function: they go in the reverse order of their making, and each puts back
//! what it found. Guards that users hold ([`Held`]) go in any order, so they stand in a list, from which each takes itself. What
//! is entered by a function while there are any stands there too. So whatever is in the list is later than whatever is not.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget, take};
use std::rc::Rc;

use super::Core;

thread_local! {
    /// Without a destructor, so that it still works while a thread's other locals, executors among them, are destroyed.
    /// What it holds is dropped by the guard that put it there.
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
    /// Of the latest guard that is not in the list.
    entered: Cell<ManuallyDrop<Option<Rc<Core>>>>,
    /// The guards in the list, by their numbers, which grow.
    listed: RefCell<ManuallyDrop<Vec<Listed>>>,
    /// Whether there are any. Looked at often.
    any_listed: Cell<bool>,
    last_number: Cell<u64>,
}

struct Listed {
    number: u64,
    core: Rc<Core>,
}

/// Makes an executor the current one until the guard is dropped, which is to be by the function that calls this.
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

/// As [`enter`] for every poll of a run's future in a turn. The turn has entered for the first; for another that is to be done
/// anew, as the last may have left guards of other executors.
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

    /// Takes a guard out of the list. Its executor is for the caller to drop, when nothing is borrowed any more.
    fn take_out(&self, number: u64) -> Option<Rc<Core>> {
        let listed = &mut **self.listed.borrow_mut();
        let at = listed.binary_search_by_key(&number, |guard| guard.number).ok()?;
        let Listed { core, .. } = listed.remove(at);
        if listed.is_empty() {
            self.any_listed.set(false);
            // So that nothing is left when the thread ends.
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

/// The process was forked by what this thread was doing: ends the copied run, if there is one. Called in the child.
///
/// (Of runs inside each other, the innermost, and those in the list. The others find out at the end of their slices. To an
/// executor that was entered and is not run it makes no difference: as a copy it cannot be run.)
#[cfg(unix)]
pub(crate) fn interrupt() {
    CONTEXT.with(|context| {
        let entered = context.replace(None);
        entered.iter().for_each(|core| core.interrupt());
        context.replace(entered);
        if let Ok(listed) = context.listed.try_borrow() {
            listed.iter().for_each(|guard| guard.core.interrupt());
        }
    });
}

/// Looks at the current executor, if there is one, without counting a reference. `look` neither comes back here nor panics.
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
