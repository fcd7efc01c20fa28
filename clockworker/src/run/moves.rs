//! [`Moves`]: tasks that go on in another queue.
//!
//! A task that is not being polled moves at once, another after its poll. Its group and its attributes go with it. To the schedulers it
//! is a task that has finished in one queue, and one that was spawned in the other. So it is polled there once, also if it waits.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker_schedulers::{Attributes, Task, TaskId};

use super::queue::RunQueue;
use super::{Core, context};
use crate::base::wake_quietly;
use crate::queue::{GroupIndex, LeavingGroup, MoveError, NO_GROUP, Removed, TakenOut, TaskLabel};
use crate::task::{JoinHandle, LiveTask, RecordKey};

/// Whether and where the task that is being polled is to move.
#[derive(Default)]
pub(super) struct Moves {
    /// Whether there is anything to do after the slice.
    any: Cell<bool>,
    asked: RefCell<Option<Asked>>,
}

/// What came of a move, once it is known.
pub(crate) type MoveOutcome = Rc<Cell<Option<Result<(), MoveError>>>>;

struct Asked {
    key: RecordKey,
    to: Rc<RunQueue>,
    /// Shared with the future that asks. If that was dropped, this is the only one, and the task stays.
    outcome: MoveOutcome,
    waker: Waker,
}

impl Moves {
    /// Whether the task that was polled last has asked, or its queue may have to sweep.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any.get()
    }

    fn is_asked(&self) -> bool {
        self.asked.borrow().is_some()
    }

    /// Has the queue sweep after its slice, if that is due: until then its scheduler may be without the task that it gave out last.
    fn sweep_after_slice(&self) {
        self.any.set(true);
    }

    fn ask(&self, asked: Asked) {
        self.any.set(true);
        let replaced = self.asked.replace(Some(asked));
        debug_assert!(replaced.is_none(), "one at a time");
    }

    fn take(&self) -> Option<Asked> {
        self.any.set(false);
        self.asked.take()
    }

    /// The future that has asked is polled again in the same poll of its task.
    fn set_waker(&self, waker: &Waker) {
        let waker = waker.clone();
        let replaced =
            self.asked.borrow_mut().as_mut().map(|asked| std::mem::replace(&mut asked.waker, waker));
        drop(replaced);
    }
}

/// A task on its way between two queues, with what goes with it.
struct Moving {
    task: LiveTask,
    attributes: Option<Attributes>,
    label: Option<TaskLabel>,
    was_ready: bool,
    /// What its last scheduler is to hear. None if that has the task: then it hears so when it gives the task out.
    removed: Option<Removed>,
}

impl Core {
    /// Has the task that is being polled move after its poll. Ready once it is known what came of that.
    pub(crate) fn poll_move(
        &self,
        to: &Rc<RunQueue>,
        outcome: &mut Option<MoveOutcome>,
        waker: &Waker,
    ) -> Poll<Result<(), MoveError>> {
        if let Some(asked) = outcome {
            let known = asked.take();
            if known.is_none() {
                self.moves.set_waker(waker);
            }
            return known.map_or(Poll::Pending, Poll::Ready);
        }
        let key = match self.key_of_polled() {
            Err(error) => return Poll::Ready(Err(error)),
            Ok(key) if key.queue == to.index() && !to.removed.get() => return Poll::Ready(Ok(())),
            Ok(key) => key,
        };
        if self.moves.is_asked() {
            // One at a time: the next poll asks.
            waker.wake_by_ref();
            return Poll::Pending;
        }
        let outcome = Rc::clone(outcome.insert(MoveOutcome::default()));
        self.moves.ask(Asked { key, to: Rc::clone(to), outcome, waker: waker.clone() });
        self.slice.interrupt();
        Poll::Pending
    }

    /// The key of the task that is being polled, which is the innermost on this thread.
    fn key_of_polled(&self) -> Result<RecordKey, MoveError> {
        let is_current = context::with_current(|current| std::ptr::eq(current, self)) == Some(true);
        let current = self.slice.current().filter(|_| is_current).ok_or(MoveError::no_task())?;
        let queue = self.queue_at(current.queue).ok_or(MoveError::no_task())?;
        let records = queue.records.try_borrow().map_err(|_| MoveError::busy())?;
        records.key_of(current.queue, current.slot).ok_or(MoveError::no_task())
    }

    /// Moves the task that has asked for it in the last poll of that queue, whose slice is over but for its account.
    #[cold]
    pub(super) fn move_polled(&self, queue: &RunQueue) {
        if let Some(Asked { key, to, outcome, waker }) = self.moves.take() {
            if Rc::strong_count(&outcome) > 1 {
                outcome.set(Some(self.move_task(key, &to)));
            }
            wake_quietly(waker);
        }
        self.moves.any.set(false);
        queue.sweep_tombstones();
    }

    /// Moves the task of that handle.
    pub(crate) fn move_task_of<T>(&self, handle: &JoinHandle<T>, to: &RunQueue) -> Result<(), MoveError> {
        let record = handle.record_of(self.local()).ok_or(MoveError::other_executor())?;
        let key = record.get();
        if handle.is_finished() {
            return Err(MoveError::finished());
        }
        if key.has_slot() {
            return self.move_task(key, to);
        }
        // It is on its way from another thread: it is admitted to the other queue.
        self.may_spawn(to, NO_GROUP).map_err(MoveError::refused)?;
        record.set(RecordKey { queue: to.index(), generation: to.id.generation(), ..key });
        Ok(())
    }

    /// Moves a task that is not being polled.
    fn move_task(&self, key: RecordKey, to: &RunQueue) -> Result<(), MoveError> {
        let id = TaskId::new(key.slot, key.generation);
        let from = self.queue_at(key.queue).ok_or(MoveError::finished())?;
        if from.is_scheduler_called() || to.is_scheduler_called() {
            return Err(MoveError::busy());
        }
        let leaving = from.records.borrow().may_leave(id)?;
        if from.id == to.id {
            return Ok(());
        }
        let group = leaving.as_ref().map_or(NO_GROUP, |group| to.records.borrow().group_index(group.key));
        self.may_come(to, group, || Some(Rc::clone(&from))).map_err(MoveError::refused)?;
        let group = leaving.map_or(NO_GROUP, |group| to.open_as(group));
        let moving = from.give_up(id);
        let moved = moving.map(|Moving { task, attributes, label, was_ready, removed }| {
            (self.take_over(to, group, task, (attributes, label)), was_ready, removed)
        });
        // From now on the task holds it.
        to.release_group(group);
        let (task, was_ready, removed) = moved.ok_or(MoveError::finished())?;
        from.tell_removed(removed);
        // Once both schedulers know, as these are foreign code.
        self.tell_moved(to, task, key, was_ready);
        self.shared.inbox.wake_parked_host();
        if self.runs(&from) {
            self.moves.sweep_after_slice();
        } else {
            from.sweep_tombstones();
        }
        self.after_finish(&from);
        Ok(())
    }

    /// Adds a task to the queue that has left another one, with what was said of it there.
    fn take_over(
        &self,
        to: &RunQueue,
        group: GroupIndex,
        task: LiveTask,
        (attributes, label): (Option<Attributes>, Option<TaskLabel>),
    ) -> Task {
        self.make_runnable(to);
        let task = to.insert(group, |key| {
            task.assign_record(key);
            task
        });
        if let Some(label) = label {
            to.records.borrow_mut().put_label(task.id, label);
        }
        if let Some(attributes) = attributes {
            to.set_attributes(task, &attributes);
        }
        task
    }
}

impl RunQueue {
    /// Whether its scheduler is being called, so that no task can leave it or come.
    fn is_scheduler_called(&self) -> bool {
        self.records.try_borrow_mut().is_err() || self.service.call(|policy| policy.is_busy())
    }

    /// Opens a group as another queue has it, with one more holder. If it is open, it stays as it is.
    fn open_as(&self, group: LeavingGroup) -> GroupIndex {
        let index = self.open_group(group.key, group.attributes);
        let mut records = self.records.borrow_mut();
        if let Some(name) = group.name
            && records.group_name(index).is_none()
        {
            records.set_group_name(index, name);
        }
        index
    }

    /// Gives up a task that goes on in another queue. None if it has gone, or is being polled.
    fn give_up(&self, id: TaskId) -> Option<Moving> {
        let mut records = self.records.borrow_mut();
        let TakenOut { live: task, group, ready, is_known, .. } = records.take_out(id)?;
        let (attributes, label) = (records.attributes(id.slot() as u32), records.take_label(id));
        records.count_moved(group);
        let was_ready = ready || task.has_arrived();
        let removed = (!ready).then(|| Removed { is_known, ..records.remove(id, None) });
        task.park_for_move(self.arrivals());
        if ready {
            self.ready.set(self.ready.get() - 1);
            self.add_tombstone();
        }
        self.live.set(self.live.get() - 1);
        self.counters.moved.add(1);
        Some(Moving { task, attributes, label, was_ready, removed })
    }

    /// Tells the scheduler of a task that has moved away, unless it has the task.
    fn tell_removed(&self, removed: Option<Removed>) {
        if let Some(removed) = removed {
            self.check(self.service.call(|policy| policy.removed(&removed)));
        }
    }
}
