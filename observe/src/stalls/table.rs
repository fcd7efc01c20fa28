//! [`StackTable`]: the stack of a thread, which its signal handler walks for the lookout.
//!
//! One stack is walked at a time. Whoever asks is a lookout, one at a time. A word says who may use the table:
//!
//! | Word | Who may use the rest | Next |
//! |---|---|---|
//! | `IDLE` | the lookout | `ASKED` with a thread, by the lookout, which then sends the signal |
//! | `ASKED` | nobody | `WALKING`, by the handler on that thread; `IDLE`, by a lookout that gives up |
//! | `WALKING` | the handler | `WALKED`, by the handler |
//! | `WALKED` | the lookout | `IDLE`, by the lookout |
//!
//! A signal that comes late, or from somebody else, finds another word and does nothing: the thread that is asked is part of the
//! word, so one that has given up on a thread and asks another is answered by that one.

use std::sync::atomic::Ordering;

use super::NoStack;
use crate::sync::AtomicUsize;

const IDLE: usize = 0;
const WALKING: usize = 1;
const WALKED: usize = 2;
/// With the thread's number above it, in the other bits.
const ASKED: usize = 3;

/// The most frames that are kept: the innermost.
const DEPTH: usize = if cfg!(all(test, clockworker_loom)) { 2 } else { 256 };

/// See the [module docs](self).
pub(crate) struct StackTable {
    word: AtomicUsize,
    /// The instruction at which the thread was interrupted. The frames before it are the handler's.
    interrupted_at: Slot,
    depth: Slot,
    addresses: [Slot; DEPTH],
}

/// A stack as it was walked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) addresses: Vec<usize>,
    pub(crate) interrupted_at: usize,
}

/// What a lookout that gives up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// No handler has answered, and none will.
    InTime,
    /// One walks the stack.
    Walking,
    /// The stack is walked.
    Walked,
}

impl StackTable {
    #[cfg(not(all(test, clockworker_loom)))]
    pub(super) const fn new() -> Self {
        Self {
            word: AtomicUsize::new(IDLE),
            interrupted_at: Slot::new(),
            depth: Slot::new(),
            addresses: [const { Slot::new() }; DEPTH],
        }
    }

    #[cfg(all(test, clockworker_loom))]
    pub(crate) fn new() -> Self {
        Self {
            word: AtomicUsize::new(IDLE),
            interrupted_at: Slot::new(),
            depth: Slot::new(),
            addresses: std::array::from_fn(|_| Slot::new()),
        }
    }

    /// Begins anew: a fork may have copied any state. Nobody uses it.
    pub(crate) fn reset(&self) {
        self.word.store(IDLE, Ordering::Relaxed);
    }

    /// Asks a thread for its stack, which is then to be sent the signal. Called by the lookout.
    ///
    /// # Errors
    ///
    /// If the handler of an earlier one still walks.
    pub(crate) fn ask(&self, thread: u32) -> Result<(), NoStack> {
        // Ordering: Acquire, pairs with the Release in `end`: that handler is done with the table.
        if self.word.load(Ordering::Acquire) == WALKING {
            return Err(NoStack::Busy);
        }
        // Ordering: Release, pairs with the Acquire in `begin`: what was read of the last stack was read before.
        self.word.store(asked(thread), Ordering::Release);
        Ok(())
    }

    /// Whether the stack is walked. Called by the lookout.
    pub(crate) fn is_walked(&self) -> bool {
        // Ordering: Acquire, pairs with the Release in `end`, for the table.
        self.word.load(Ordering::Acquire) == WALKED
    }

    /// Asks the thread no more, if no handler has begun. Called by the lookout.
    pub(crate) fn give_up(&self, thread: u32) -> GivenUp {
        // Ordering: Relaxed, the table is not touched.
        match self.word.compare_exchange(asked(thread), IDLE, Ordering::Relaxed, Ordering::Relaxed) {
            Err(WALKING) => GivenUp::Walking,
            Err(WALKED) => GivenUp::Walked,
            _ => GivenUp::InTime,
        }
    }

    /// Takes a stack that [is walked](StackTable::is_walked). Called by the lookout.
    pub(crate) fn take(&self) -> Walked {
        let addresses = self.addresses.iter().take(self.depth.get()).map(Slot::get).collect();
        let walked = Walked { addresses, interrupted_at: self.interrupted_at.get() };
        // Ordering: Relaxed, the next to use it is asked with a Release.
        self.word.store(IDLE, Ordering::Relaxed);
        walked
    }

    /// Whether the calling thread is asked, and is to walk its stack. Called by the handler, as the next two.
    pub(crate) fn begin(&self, thread: u32) -> bool {
        // Ordering: Acquire, pairs with the Release in `ask`.
        self.word.compare_exchange(asked(thread), WALKING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Keeps the address of a frame, the innermost being 0. False if there is no room.
    pub(crate) fn keep(&self, frame: usize, address: usize) -> bool {
        self.addresses.get(frame).map(|slot| slot.set(address)).is_some()
    }

    /// So many frames were kept.
    pub(crate) fn end(&self, depth: usize, interrupted_at: usize) {
        self.depth.set(depth);
        self.interrupted_at.set(interrupted_at);
        // Ordering: Release, pairs with the Acquire in `is_walked` and `ask`.
        self.word.store(WALKED, Ordering::Release);
    }
}

/// The word by which that thread is asked. Linux numbers threads up to 2^22.
fn asked(thread: u32) -> usize {
    (thread as usize) << 2 | ASKED
}

/// A number of the table. The word says who may use it; it is atomic all the same, so that a mistake there would be a wrong
/// stack and no more. In the models it is a cell, of which no two uses may be at once.
#[cfg(not(all(test, clockworker_loom)))]
struct Slot(AtomicUsize);

#[cfg(not(all(test, clockworker_loom)))]
impl Slot {
    const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, number: usize) {
        self.0.store(number, Ordering::Relaxed);
    }
}

#[cfg(all(test, clockworker_loom))]
struct Slot(crate::sync::Cell<usize>);

#[cfg(all(test, clockworker_loom))]
impl Slot {
    fn new() -> Self {
        Self(crate::sync::Cell::new(0))
    }

    fn get(&self) -> usize {
        self.0.get()
    }

    fn set(&self, number: usize) {
        self.0.set(number);
    }
}
