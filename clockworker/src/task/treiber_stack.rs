//! [`TreiberStack`]: nodes that many threads push, and one owner takes out, all at once.
//!
//! A push is one compare-and-swap: no lock, no allocation. It is complete with that swap, so the owner never waits for a pusher.
//! (R. K. Treiber, *Systems Programming: Coping with Parallelism*, IBM RJ 5118, 1986.)
//!
//! The same word says whether the owner sleeps, so a pusher learns by its one swap whether it must wake the owner, and the owner is
//! woken once per sleep. `head` is
//!
//! | Value | Meaning |
//! |---|---|
//! | `EMPTY` (0) | empty, and the owner is awake or will look again |
//! | `PARKED` | empty, and the owner waits to be woken |
//! | `CLOSED` | the owner is gone: pushes fail |
//! | another | the address of the node pushed last, whose `next` is that of the one before |
//!
//! # Addresses, not pointers
//!
//! Between a pusher's load of `head` and its swap, the owner may take out and free the node on top, and another node may be
//! made at the same address and pushed. The swap succeeds, and rightly: that address is the top of the stack. But a pointer
//! that came from the load would be one to the freed node, and must not be followed, although it looks the same. So `head`
//! and the links hold addresses. A pusher exposes its node (`expose_provenance`) before its swap, and only the owner makes
//! pointers of addresses (`with_exposed_provenance_mut`), when it has taken the stack out: after the swaps of all nodes in
//! it, so after they were exposed, and before any of them is freed.

use std::sync::atomic::Ordering;

use crate::sync::{AtomicUsize, fence};

/// See the [module docs](self).
pub(super) struct TreiberStack {
    head: AtomicUsize,
}

/// What a push finds that fails.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// No node has these addresses: nodes are aligned.
const EMPTY: usize = TreiberStack::NONE;
const PARKED: usize = 1;
const CLOSED: usize = 2;

impl TreiberStack {
    /// No node's address.
    pub(super) const NONE: usize = 0;

    pub(super) fn new() -> Self {
        Self { head: AtomicUsize::new(EMPTY) }
    }

    /// Pushes the node at `address`, which was exposed. True if the owner was parked, which it is no more: the caller wakes it.
    ///
    /// `set_next` writes into the node the address of the one below it, or [`NONE`](Self::NONE). It may be called several times. After
    /// a push that succeeds the node is the owner's, who may have freed it.
    #[inline]
    pub(super) fn push(&self, address: usize, set_next: impl Fn(usize)) -> Result<bool, Closed> {
        // Ordering: Relaxed, the value is only compared, and the swap below checks it.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == CLOSED {
                // Ordering: Acquire pairs with the Release of the closing. The caller may free the node in the owner's
                // stead, so all that the owner did to it must have happened before.
                fence(Ordering::Acquire);
                return Err(Closed);
            }
            set_next(if head == PARKED { EMPTY } else { head });
            // Ordering: Release publishes `next`, that the node was exposed, and the end of the pusher's use of it, to the Acquire in
            // `take_all`.
            match self.head.compare_exchange_weak(head, address, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Ok(head == PARKED),
                Err(now) => head = now,
            }
        }
    }

    /// Whether there are nodes. A hint: a push that is missed now is seen at the next look, or wakes the parked owner.
    #[inline]
    pub(super) fn has_nodes(&self) -> bool {
        // Ordering: Relaxed, see above.
        self.head.load(Ordering::Relaxed) > CLOSED
    }

    /// Whether the owner is parked.
    ///
    /// Ordering: Relaxed, the caller orders it.
    #[inline]
    pub(super) fn is_parked(&self) -> bool {
        self.head.load(Ordering::Relaxed) == PARKED
    }

    /// Takes out all nodes, for the owner. Returns the address of the one pushed last, or [`NONE`](Self::NONE). A mark stays.
    #[inline]
    pub(super) fn take_all(&self) -> usize {
        // Ordering: Acquire pairs with the Release of every push in the stack: each push is a read-modify-write, so
        // they form one release sequence.
        if self.has_nodes() { self.head.swap(EMPTY, Ordering::Acquire) } else { EMPTY }
    }

    /// Refuses all pushes from now on. False if there are nodes, or a mark: they are to be taken first.
    pub(super) fn close(&self) -> bool {
        // Ordering: Release pairs with the Acquire of a push that finds the stack closed.
        match self.head.compare_exchange(EMPTY, CLOSED, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => true,
            Err(now) => now == CLOSED,
        }
    }

    /// Marks the owner as parked. False if it was, or if there are nodes.
    ///
    /// Ordering: Relaxed, nothing is published.
    pub(super) fn park(&self) -> bool {
        self.head.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Marks a parked owner as awake. True for the one caller that did so.
    ///
    /// Ordering: Relaxed, as above.
    pub(super) fn unpark(&self) -> bool {
        self.head.compare_exchange(PARKED, EMPTY, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
