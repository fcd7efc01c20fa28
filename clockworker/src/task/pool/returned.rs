//! [`Returned`]: the cells of a pool that other threads have freed.

use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

use crate::sync::{AtomicUsize, Cell};

/// A stack of freed cells, through the cells themselves. Any thread pushes; the pool's owner takes all at once.
///
/// It holds addresses and not pointers, for the reason that the [inbox](crate::task::inbox) does: between a pusher's look at
/// `head` and its swap the cell on top may be taken out, given out again and freed again.
#[derive(Debug)]
pub(crate) struct Returned {
    /// The address of the cell pushed last, or 0.
    head: AtomicUsize,
}

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
        Self { head: AtomicUsize::new(0) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Ordering: Relaxed, a hint: what is missed now is seen at the next look.
        self.head.load(Ordering::Relaxed) == 0
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
        // Ordering: Relaxed, the value is only compared, and the swap below checks it.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the caller's promise, until the swap succeeds.
            unsafe { vacant.as_ref() }.next.set(head);
            // Ordering: Release publishes `next`, that it was exposed, and the end of all use of the cell, to `take_all`.
            match self.head.compare_exchange_weak(head, address, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes all out. Each may be overwritten once the iterator has given it.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = NonNull<u8>> + use<> {
        // Ordering: Acquire pairs with the Release of every push in the stack, which form one release sequence.
        let mut head = self.head.swap(0, Ordering::Acquire);
        std::iter::from_fn(move || {
            let vacant = NonNull::new(ptr::with_exposed_provenance_mut::<Vacant>(head))?;
            // SAFETY: it was pushed and has just been taken out, so it is this call's; and it was exposed before.
            head = unsafe { vacant.as_ref() }.next.get();
            Some(vacant.cast())
        })
    }
}
