//! [`Returned`]: the cells of a pool that other threads have freed.

use std::ptr::{self, NonNull};

use crate::sync::Cell;
use crate::task::treiber_stack::TreiberStack;

/// A stack of freed cells, through the cells themselves. Any thread pushes; the pool's owner takes all at once.
pub(crate) struct Returned(TreiberStack);

/// What a cell is in the stack.
pub(crate) struct Vacant {
    /// The address of the one pushed before, or 0.
    next: Cell<usize>,
}

impl Vacant {
    pub(crate) fn new() -> Self {
        Self { next: Cell::new(0) }
    }
}

impl Returned {
    pub(crate) fn new() -> Self {
        Self(TreiberStack::new())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.0.has_nodes()
    }

    /// Pushes a cell's memory.
    ///
    /// # Safety
    ///
    /// It is that of a cell of the pool, and nothing uses it any more.
    pub(crate) unsafe fn push_memory(&self, memory: NonNull<u8>) {
        let vacant = memory.cast::<Vacant>();
        // SAFETY: the memory is the caller's. It is a word long at least, and aligned so.
        unsafe { vacant.write(Vacant::new()) };
        // SAFETY: as above.
        unsafe { self.push(vacant) };
    }

    /// Pushes what was freed.
    ///
    /// # Safety
    ///
    /// `vacant` is the caller's, who gives it up.
    pub(crate) unsafe fn push(&self, vacant: NonNull<Vacant>) {
        let address = vacant.as_ptr().expose_provenance();
        // SAFETY: the caller's promise, until the push has succeeded.
        let pushed = self.0.push(address, |next| unsafe { vacant.as_ref() }.next.set(next));
        debug_assert_eq!(pushed, Ok(false), "it is never closed, and nobody waits for it");
    }

    /// Takes all out. Each may be overwritten once the iterator has given it.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = NonNull<u8>> + use<> {
        let mut head = self.0.take_all();
        std::iter::from_fn(move || {
            let vacant = NonNull::new(ptr::with_exposed_provenance_mut::<Vacant>(head))?;
            // SAFETY: it was pushed and has just been taken out, so it is this call's; and it was exposed before.
            head = unsafe { vacant.as_ref() }.next.get();
            Some(vacant.cast())
        })
    }
}
