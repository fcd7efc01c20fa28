//! Loans: a task that awaits another one lends it its place.
//!
//! The borrower's record moves to the lender's queue and group for the time, so all that holds between queues holds as it is: what
//! the borrower takes is billed to the lender's queue, whose share, cap and promise to others do not change. A borrower that
//! lends in turn passes on the place that it has. Each task has one join handle, so it has one lender at most, and what is
//! lent forms trees, or a ring of tasks that wait for each other for ever.
//!
//! No borrow is held while a task moves: schedulers are told of that, and those who wait for room are woken.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use clockworker_schedulers::Attributes;

use super::Core;
use super::nesting::shares_apart;
use super::pick::Current;
use super::queue::RunQueue;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::{Id, RecordKey};

/// The loans of an executor.
#[derive(Default)]
pub(super) struct Loans {
    /// By borrower.
    loans: RefCell<BTreeMap<Id, Loan>>,
    /// Lenders, each with its borrowers.
    by_lender: RefCell<BTreeMap<Id, BTreeSet<Id>>>,
}

/// What is known of a borrower.
#[derive(Clone)]
struct Loan {
    lender: Id,
    /// Where it belongs, and goes back to. Its group is held for that.
    home: Place,
    /// Where it is.
    queue: Rc<RunQueue>,
    at: RecordKey,
}

/// Where a task is served.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) queue: Rc<RunQueue>,
    pub(super) group: GroupIndex,
    pub(super) attributes: Option<Attributes>,
}

impl Place {
    /// Whether a task of `home` may be served here: only for the better, as far as it can be told.
    fn is_for(&self, home: &Place) -> bool {
        let (here, there) = (&self.queue, &home.queue);
        let is_idle = |queue: &RunQueue| queue.constraints.idle().is_some();
        let is_capped = |queue: &RunQueue| queue.constraints.cap().is_some();
        match (is_idle(here), is_idle(there)) {
            (false, true) => true,
            (true, false) => false,
            _ => {
                let (here_share, there_share) = shares_apart(here, there);
                (is_capped(there) || !is_capped(here)) && here_share >= there_share
            }
        }
    }
}

impl Loans {
    fn get(&self, borrower: Id) -> Option<Loan> {
        self.loans.borrow().get(&borrower).cloned()
    }

    /// Adds a loan.
    fn insert(&self, borrower: Id, loan: Loan) {
        self.by_lender.borrow_mut().entry(loan.lender).or_default().insert(borrower);
        self.loans.borrow_mut().insert(borrower, loan);
    }

    fn remove(&self, borrower: Id) -> Option<Loan> {
        let loan = self.loans.borrow_mut().remove(&borrower)?;
        if let Entry::Occupied(mut borrowers) = self.by_lender.borrow_mut().entry(loan.lender) {
            borrowers.get_mut().remove(&borrower);
            if borrowers.get().is_empty() {
                borrowers.remove();
            }
        }
        Some(loan)
    }

    /// Notes where a borrower is now. Returns where it was, for the caller to drop: this may be the last of a queue.
    #[must_use]
    fn note_moved(&self, borrower: Id, queue: &Rc<RunQueue>, at: RecordKey) -> Option<Rc<RunQueue>> {
        let mut loans = self.loans.borrow_mut();
        let loan = loans.get_mut(&borrower)?;
        loan.at = at;
        Some(std::mem::replace(&mut loan.queue, Rc::clone(queue)))
    }

    /// To whom a task lends.
    fn borrowers(&self, lender: Id) -> Vec<Id> {
        self.by_lender.borrow().get(&lender).into_iter().flatten().copied().collect()
    }

    /// Where a borrower belongs. None for another task.
    pub(super) fn home(&self, task: Id) -> Option<Place> {
        self.loans.borrow().get(&task).map(|loan| loan.home.clone())
    }
}

impl Core {
    /// The task that is being polled lends its place to `borrower`, which it awaits and whose record is at `key`, until
    /// [`end_loan`](Core::end_loan). Does nothing if it does so already, or no task is being polled.
    pub(crate) fn lend(&self, borrower: Id, key: RecordKey) {
        let Some(lender) = Id::current().filter(|&id| self.slice.is_in_task() && id != borrower) else {
            return;
        };
        let known = self.loans.remove(borrower);
        let loan = match known {
            Some(loan) if loan.lender == lender => return self.loans.insert(borrower, loan),
            Some(loan) => Loan { lender, ..loan },
            None => match self.first_loan(lender, key) {
                Some(loan) => loan,
                None => return,
            },
        };
        self.loans.insert(borrower, loan);
        if let Some(place) = self.current_place() {
            self.settle(borrower, Some(place));
        }
    }

    /// A loan to a task that is at home, and holds the group there.
    fn first_loan(&self, lender: Id, at: RecordKey) -> Option<Loan> {
        let queue = self.queue_at(at.queue)?;
        let mut records = queue.records.try_borrow_mut().ok()?;
        let (group, attributes) = records.place(at)?;
        records.retain_group(group);
        drop(records);
        let home = Place { queue: Rc::clone(&queue), group, attributes };
        Some(Loan { lender, home, queue, at })
    }

    /// Ends a loan: the borrower goes home, unless it has finished, its queue is gone, or it is being polled.
    pub(crate) fn end_loan(&self, borrower: Id) {
        if self.loans.get(borrower).is_none() {
            return;
        }
        self.settle(borrower, None);
        if let Some(Loan { home: Place { queue, group, .. }, .. }) = self.loans.remove(borrower) {
            if group != NO_GROUP {
                queue.release_group(group);
            }
            // Otherwise it is removed at the end of its slice, if it is to be.
            if !queue.runnable.get() {
                self.remove_if_done(&queue);
            }
        }
    }

    /// Moves a borrower to where it is to be, `offered` a place by its lender or not; and those to whom it lends in turn.
    fn settle(&self, borrower: Id, offered: Option<Place>) {
        if self.ending.stopped().is_some() || !self.process.is_current() || self.is_choosing() {
            return;
        }
        // A task in the woken list cannot be moved.
        self.admit_woken_before_spawn();
        let (mut seen, mut left) = (BTreeSet::new(), vec![(borrower, offered)]);
        while let Some((borrower, offered)) = left.pop() {
            // In a ring one comes again.
            if seen.insert(borrower)
                && let Some(place) = self.settle_one(borrower, offered)
            {
                let borrowers = self.loans.borrowers(borrower);
                left.extend(borrowers.into_iter().map(|next| (next, Some(place.clone()))));
            }
        }
    }

    /// Where the borrower is now. None if it has finished, or could not be moved.
    fn settle_one(&self, borrower: Id, offered: Option<Place>) -> Option<Place> {
        let Loan { home, queue: from, at, .. } = self.loans.get(borrower)?;
        let place = offered.filter(|offered| offered.is_for(&home)).unwrap_or(home);
        if Rc::ptr_eq(&from, &place.queue) {
            return Some(place);
        }
        let moved = self.move_task(&from, at, &place)?;
        drop(self.loans.note_moved(borrower, &place.queue, moved));
        if from.is_awaited.get() {
            self.give_room(&from);
        }
        Some(place)
    }

    /// Moves a task to another queue, where it is ready. None if it cannot be moved now, or the queue is gone.
    fn move_task(&self, from: &RunQueue, key: RecordKey, to: &Place) -> Option<RecordKey> {
        let is_free = |queue: &RunQueue| queue.records.try_borrow_mut().is_ok();
        if to.queue.removed.get() || !is_free(from) || !is_free(&to.queue) {
            return None;
        }
        let live = from.take_out(key)?;
        self.make_runnable(&to.queue);
        Some(to.queue.take_in(live, to.group, to.attributes))
    }

    /// Where the task that is being polled is served.
    pub(super) fn current_place(&self) -> Option<Place> {
        let Current { queue, group, slot } = self.slice.current();
        let queue = self.queue_at(queue)?;
        let attributes = queue.attributes(slot);
        Some(Place { queue, group, attributes })
    }

    /// Where the task that is being polled belongs, if it is served elsewhere. Only for a task with attributes, which all
    /// have that were moved.
    #[cold]
    pub(super) fn current_home(&self) -> Option<Place> {
        self.loans.home(Id::current()?)
    }
}
