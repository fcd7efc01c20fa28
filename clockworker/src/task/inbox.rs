//! The inbox: tasks that other threads woke, aborted or spawned, and how these threads wake the executor's host.
//!
//! Wakes, aborts and spawns from other threads push tasks onto an intrusive stack: one compare-and-swap each, no lock, no
//! allocation. A push is complete with its one successful swap, so the owner never waits for a pusher. The owner takes the
//! whole stack at once and turns it round, so tasks come out in the order in which they were pushed.
//!
//! The same word says what the host is doing, so a pusher learns by its one swap whether it must wake the host, and the host
//! is woken once per park. `head` is
//!
//! | Value | Meaning |
//! |---|---|
//! | `AWAKE` (0) | empty, and the host is awake or will look again |
//! | `PARKED` | empty, and the host waits for its waker |
//! | `CLOSED` | the executor is gone: pushes fail |
//! | another | the address of the task pushed last, whose `next` is that of the one before |
//!
//! No wake is lost between "is it empty?" and sleeping: the host registers its waker, then swaps `AWAKE` for `PARKED`. A push
//! before that makes the swap fail; a push after it sees `PARKED` and wakes. What cloning or dropping the host's waker does
//! comes before the executor looks for work: see [`host_waker`](super::host_waker).
//!
//! # Addresses, not pointers
//!
//! Between a pusher's load of `head` and its swap, the owner may take out and free the task on top, and another task may be
//! made at the same address and pushed. The swap succeeds, and rightly: that address is the top of the stack. But a pointer
//! that came from the load would be one to the freed task, and must not be followed, although it looks the same. So `head`
//! and the links hold addresses. A pusher exposes its task (`expose_provenance`) before its swap, and only the owner makes
//! pointers of addresses (`with_exposed_provenance_mut`), when it has taken the stack out: after the swaps of all tasks in
//! it, so after they were exposed, and before any of them is freed.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use super::header::Link;
use super::live::{Incoming, take_out_of_inbox};
use super::{HostWaker, WokenList};
use crate::base::{Process, drop_quietly, wake_quietly};
use crate::sync::{AtomicUsize, AtomicWaker, fence};

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Inbox {
    head: AtomicUsize,
    /// The waker of the task that `run_until` runs in.
    host: AtomicWaker,
    process: Process,
}

/// No header has these addresses: headers are aligned.
const AWAKE: usize = Link::NONE;
const PARKED: usize = 1;
const CLOSED: usize = 2;

impl Inbox {
    pub(crate) fn new(process: Process) -> Self {
        Self { head: AtomicUsize::new(AWAKE), host: AtomicWaker::new(), process }
    }

    /// Pushes a task, and wakes the host if it is parked. Gives the link back if the executor is gone.
    ///
    /// # Safety
    ///
    /// The caller owns the link's `next` field (it set `NOTIFIED`), and keeps the cell alive during the call.
    pub(crate) unsafe fn push(&self, link: Link) -> Result<(), Link> {
        let address = link.expose();
        // Ordering: Relaxed, the value is only compared, and the swap below checks it.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == CLOSED {
                // Ordering: Acquire pairs with the Release of the closing. The caller may free the cell in the owner's
                // stead, so all that the owner did to it must have happened before.
                fence(Ordering::Acquire);
                return Err(link);
            }
            // SAFETY: the caller's promise, until the swap succeeds.
            unsafe { link.set_next(if head == PARKED { Link::NONE } else { head }) };
            // Ordering: Release publishes `next`, and that the task was exposed, to the Acquire in `swap_out`.
            match self.head.compare_exchange_weak(head, address, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        if head == PARKED {
            self.wake_host();
        }
        Ok(())
    }

    /// Whether a task waits here.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        // Ordering: Relaxed, a hint; a push that is missed now is seen at the next look, or wakes the parked host.
        self.head.load(Ordering::Relaxed) > CLOSED
    }

    /// Takes out all tasks, first pushed first. `_owner` proves that this is the owner thread.
    pub(crate) fn take_all(&self, _owner: &WokenList) -> Batch {
        if self.has_mail() { self.swap_out(AWAKE) } else { Batch::default() }
    }

    /// Refuses all pushes from now on, and takes out what is left. Every task must be complete by now: a thread whose push is
    /// refused relies on it. `_owner` proves that this is the owner thread.
    pub(crate) fn close(&self, _owner: &WokenList) -> Batch {
        let left = self.swap_out(CLOSED);
        // Quietly: a panic would lose the links just taken out.
        drop_quietly(self.host.take());
        left
    }

    fn swap_out(&self, new: usize) -> Batch {
        // Ordering: Acquire pairs with the Release of every push in the stack: each push is a read-modify-write, so
        // they form one release sequence. Release pairs with the Acquire of a push that finds the inbox closed.
        let head = self.head.swap(new, Ordering::AcqRel);
        let head = if head == PARKED || head == CLOSED { Link::NONE } else { head };
        Batch::new(Link::from_exposed(head))
    }

    /// Registers the host's waker and marks the host as parked, to be woken for whatever comes. False if a task was pushed
    /// already. The caller looks for other news afterwards, see [`wake_parked_host`](Inbox::wake_parked_host).
    pub(crate) fn park(&self, host: &HostWaker) -> bool {
        self.host.register(host);
        // Ordering: Relaxed. The thread that takes `PARKED` away wakes this registration or a later one. For if its wake was
        // before `register` at `host`, then `register` acquired it, and the taking away happened before there was a `PARKED`.
        let parked = self.head.compare_exchange(AWAKE, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        parked.is_ok()
    }

    /// Marks the host as awake: pushes do not wake it any more.
    pub(crate) fn unpark(&self) {
        // Ordering: Relaxed, nothing is published: the owner only takes its own mark back.
        if self.head.load(Ordering::Relaxed) != PARKED {
            return;
        }
        let _ = self.head.compare_exchange(PARKED, AWAKE, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Takes a host's waker back and drops it. The drop is foreign code; a panic in it is swallowed.
    pub(crate) fn let_go(&self, host: HostWaker) {
        self.take_back(&host);
        drop_quietly(host);
    }

    /// Takes a host's waker back, before its keeper drops it. Wakes the host of another keeper whose waker was there instead.
    pub(crate) fn take_back(&self, host: &HostWaker) {
        if let Some(others) = host.take_back(&self.host)
            && self.process.is_current()
        {
            wake_quietly(others);
        }
    }

    /// Wakes the host if it is parked. For callers whose news is not a task in the inbox: a wake on the owner thread while
    /// the host sleeps, or a woken `run_until` future.
    ///
    /// Either this call sees that the host is parked, or the host sees the news: the caller is on the owner thread, or has
    /// published its news by a read-modify-write (AcqRel), and the host looks for them after it has parked, by a
    /// read-modify-write (Release at least) of the same word. (Or the call happens after the parking, as that of an alarm that
    /// was set then.) One of the two comes first. If it is the caller's, the host
    /// reads the news. If it is the host's, the caller's reads from it or a later one, so the parking happens before this
    /// call.
    #[inline]
    pub(crate) fn wake_parked_host(&self) {
        // Ordering: Relaxed, the caller's read-modify-write orders it, see above.
        if self.head.load(Ordering::Relaxed) == PARKED {
            self.unpark_and_wake();
        }
    }

    #[cold]
    fn unpark_and_wake(&self) {
        // Ordering: Relaxed, see `park`. Only the winner of the swap wakes.
        let awake = self.head.compare_exchange(PARKED, AWAKE, Ordering::Relaxed, Ordering::Relaxed);
        if awake.is_ok() {
            self.wake_host();
        }
    }

    /// Wakes the host, but not from a child process: the host is the parent's, and a descriptor that both have may reach it.
    #[cold]
    fn wake_host(&self) {
        if self.process.is_current() {
            self.host.wake();
        }
    }
}

/// Tasks taken out of the inbox. Owner thread only.
///
/// The stack has its newest task on top: [`turn_round`](Batch::turn_round) puts the first pushed first, before tasks are
/// taken.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Not turned round yet, newest first.
    stack: Option<Link>,
    /// Turned round, oldest first.
    turned: Option<Link>,
    _owner_thread: PhantomData<*mut ()>,
}

impl Batch {
    fn new(stack: Option<Link>) -> Self {
        Batch { stack, turned: None, _owner_thread: PhantomData }
    }

    /// Whether it holds no tasks.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.stack.is_none() && self.turned.is_none()
    }

    /// Turns round at most `links` more. True once all are turned.
    pub(crate) fn turn_round(&mut self, links: usize) -> bool {
        for _ in 0..links {
            let Some(link) = self.stack else { return true };
            // SAFETY: the link is in the stack just taken out: its cell is alive, as the record's reference stays while
            // it is linked, and its `next` is the owner's until the task is taken (`State::take`).
            self.stack = Link::from_exposed(unsafe { link.next() });
            // SAFETY: as above.
            unsafe { link.set_next(self.turned.map_or(Link::NONE, Link::expose)) };
            self.turned = Some(link);
        }
        self.stack.is_none()
    }
}

/// Gives no task until all are turned round.
impl Iterator for Batch {
    type Item = Incoming;

    fn next(&mut self) -> Option<Incoming> {
        let link = self.turned.filter(|_| self.stack.is_none())?;
        // SAFETY: as in `turn_round`.
        self.turned = Link::from_exposed(unsafe { link.next() });
        // SAFETY: the link came out of the inbox, which its owner emptied, and `next` has been read.
        Some(unsafe { take_out_of_inbox(link) })
    }
}

#[cfg(test)]
mod tests;
