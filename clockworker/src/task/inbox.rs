//! The inbox: tasks that other threads woke, aborted or spawned, and how these threads wake the executor's host.
//!
//! Wakes, aborts and spawns from other threads push tasks onto a [`TreiberStack`]: one compare-and-swap each, no lock, no
//! allocation. The owner takes the whole stack at once and turns it round, so tasks come out in the order in which they were pushed.
//!
//! No wake is lost between "is it empty?" and sleeping: the host registers its waker, then marks itself as parked. A push
//! before that makes the marking fail; a push after it sees the mark and wakes. What cloning or dropping the host's waker does
//! comes before the executor looks for work: see [`host_waker`](super::host_waker).

use std::marker::PhantomData;

use super::HostWaker;
use super::header::Link;
use super::live::{Incoming, take_out_of_inbox};
use super::shared::Local;
use super::treiber_stack::TreiberStack;
use crate::base::{drop_quietly, wake_quietly};
use crate::sync::AtomicWaker;

/// See the [module docs](self).
pub(crate) struct Inbox {
    tasks: TreiberStack,
    /// The waker of the task that `run_until` runs in.
    host: AtomicWaker,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { tasks: TreiberStack::new(), host: AtomicWaker::new() }
    }

    /// Pushes a task, and wakes the host if it is parked. Gives the link back if the executor is gone.
    ///
    /// # Safety
    ///
    /// The caller owns the link's `next` field (it set `NOTIFIED`), and keeps the cell alive during the call.
    pub(crate) unsafe fn push(&self, link: Link) -> Result<(), Link> {
        // SAFETY: the caller's promise, until the push has succeeded.
        let was_parked = self.tasks.push(link.expose(), |next| unsafe { link.set_next(next) });
        if was_parked.map_err(|_closed| link)? {
            self.host.wake();
        }
        Ok(())
    }

    /// Whether a task waits here.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.tasks.has_nodes()
    }

    /// Takes out all tasks, first pushed first. `_owner` proves that this is the owner thread.
    pub(crate) fn take_all(&self, _owner: &Local) -> Batch {
        Batch::new(Link::from_exposed(self.tasks.take_all()))
    }

    /// Refuses all pushes from now on. Every task must be complete by now: a thread whose push is refused relies on it. False if there
    /// are tasks in it, which are to be taken out and completed first. `_owner` proves that this is the owner thread.
    pub(crate) fn close(&self, _owner: &Local) -> bool {
        self.unpark();
        let is_closed = self.tasks.close();
        if is_closed {
            drop_quietly(self.host.take());
        }
        is_closed
    }

    /// Registers the host's waker and marks the host as parked, to be woken for whatever comes. False if a task was pushed
    /// already. The caller looks for other news afterwards, see [`wake_parked_host`](Inbox::wake_parked_host).
    pub(crate) fn park(&self, host: &HostWaker) -> bool {
        self.host.register(host);
        // The thread that takes the mark away wakes this registration or a later one. For if its wake was before `register` at `host`,
        // then `register` acquired it, and the taking away happened before there was a mark.
        self.tasks.park()
    }

    /// Whether the host is marked as parked, so that nothing came since.
    pub(crate) fn is_parked(&self) -> bool {
        self.tasks.is_parked()
    }

    /// Marks the host as awake: pushes do not wake it any more.
    pub(crate) fn unpark(&self) {
        if self.tasks.is_parked() {
            self.tasks.unpark();
        }
    }

    /// Takes a host's waker back and drops it. The drop is foreign code; a panic in it is swallowed.
    pub(crate) fn let_go(&self, host: HostWaker) {
        self.take_back(&host);
        drop_quietly(host);
    }

    /// Takes a host's waker back, before its keeper drops it. Wakes the host of another keeper whose waker was there instead.
    pub(crate) fn take_back(&self, host: &HostWaker) {
        host.take_back(&self.host).into_iter().for_each(wake_quietly);
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
        // The caller's read-modify-write orders it, see above.
        if self.tasks.is_parked() {
            self.unpark_and_wake();
        }
    }

    #[cold]
    fn unpark_and_wake(&self) {
        if self.tasks.unpark() {
            self.host.wake();
        }
    }
}

/// Tasks taken out of the inbox. Owner thread only.
///
/// The stack has its newest task on top: [`turn_round`](Batch::turn_round) puts the first pushed first, before tasks are
/// taken.
#[derive(Default)]
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

    /// Turns round at most `links` more. How many.
    pub(crate) fn turn_round(&mut self, links: usize) -> usize {
        for turned in 0..links {
            let Some(link) = self.stack else { return turned };
            // SAFETY: the link is in the stack just taken out: its cell is alive, as the record's reference stays while
            // it is linked, and its `next` is the owner's until the task is taken (`State::take`).
            self.stack = Link::from_exposed(unsafe { link.next() });
            // SAFETY: as above.
            unsafe { link.set_next(self.turned.map_or(Link::NONE, Link::expose)) };
            self.turned = Some(link);
        }
        links
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
