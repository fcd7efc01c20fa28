//! [`TaskHooks`]: what is called as tasks begin, are polled, and end.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

use super::header::Header;
use super::{Finish, Id};
use crate::base::drop_quietly;

/// Is called as tasks begin, are polled, and end: see [`Executor::set_hooks`](crate::Executor::set_hooks). Each method does nothing
/// unless it is written.
///
/// All are called on the executor's thread, and may use the executor; what else happens while a hook runs, no hook is told. A task that
/// a hook spawns inherits no attributes. The time of a hook is billed as that of the poll or the spawn. A panic of a hook is caught, and counted in
/// [`ExecutorStats::hook_panics`](crate::ExecutorStats::hook_panics); everything goes on.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use clockworker::observe::{TaskEnd, TaskHooks, TaskMeta};
///
/// #[derive(Default)]
/// struct Panics(AtomicU32);
///
/// impl TaskHooks for Panics {
///     fn ended(&self, _task: &TaskMeta, how: TaskEnd) {
///         if how == TaskEnd::Panicked {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// let ex = clockworker::Executor::new();
/// let panics = Arc::new(Panics::default());
/// ex.set_hooks(Some(panics.clone()));
/// assert!(ex.block_on(ex.spawn(async { panic!("as planned") })).is_err());
/// assert_eq!(panics.0.load(Ordering::Relaxed), 1);
/// ```
pub trait TaskHooks: Send + Sync {
    /// A task was spawned, or has come in from another thread. It was not polled yet. A task that is refused is not told.
    fn spawned(&self, task: &TaskMeta) {
        let _ = task;
    }

    /// The task is polled next.
    fn before_poll(&self, task: &TaskMeta) {
        let _ = task;
    }

    /// The task was polled. If it is over by that, `ended` comes next.
    fn after_poll(&self, task: &TaskMeta) {
        let _ = task;
    }

    /// The task is over, and its future dropped. Who awaits it is told afterwards.
    fn ended(&self, task: &TaskMeta, how: TaskEnd) {
        let _ = (task, how);
    }
}

/// Which task a [hook](TaskHooks) is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskMeta {
    /// Its id.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
    /// The index of its queue, as in a [`Timeline`](crate::observe::Timeline).
    pub queue: u32,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
    /// Its [tag](crate::TaskBuilder::tag), if it has one: its own, or inherited.
    pub tag: Option<u64>,
}

impl TaskMeta {
    pub(super) fn of(task: &Header) -> Self {
        let (name, location) = (task.label.name().cloned(), task.label.location());
        let (queue, tag) = (task.owned.record.get().queue, task.marks.tag());
        Self { id: task.id, name, queue, location, tag }
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskEnd {
    /// It gave an output.
    Completed,
    /// It was aborted, or cancelled at the end of its executor.
    Cancelled,
    /// It panicked, in its poll or when its future was dropped.
    Panicked,
}

impl From<Finish> for TaskEnd {
    fn from(finish: Finish) -> Self {
        match finish {
            Finish::Completed => TaskEnd::Completed,
            Finish::Cancelled => TaskEnd::Cancelled,
            Finish::Panicked => TaskEnd::Panicked,
        }
    }
}

/// The hooks of an executor, if it has any. The owner thread's.
#[derive(Default)]
pub(crate) struct Hooks {
    hooks: RefCell<Option<Arc<dyn TaskHooks>>>,
    is_calling: Cell<bool>,
    panics: Cell<u64>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("panics", &self.panics.get()).finish_non_exhaustive()
    }
}

impl Hooks {
    /// Calls these from now on.
    pub(super) fn set(&self, hooks: Option<Arc<dyn TaskHooks>>) {
        // The drop of the last ones is user code.
        let last = self.hooks.replace(hooks);
        drop_quietly(last);
    }

    /// Whether one is being called.
    pub(crate) fn is_calling(&self) -> bool {
        self.is_calling.get()
    }

    /// How many calls of hooks have panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.get()
    }

    /// Calls a hook, unless one of them is the caller. While it runs, no other is called.
    pub(crate) fn call(&self, hook: impl FnOnce(&dyn TaskHooks)) {
        if self.is_calling.get() {
            return;
        }
        let Some(hooks) = self.hooks.borrow().clone() else { return };
        self.is_calling.set(true);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(&*hooks))) {
            self.panics.set(self.panics.get() + 1);
            drop_quietly(payload);
        }
        self.is_calling.set(false);
        // It may have been replaced by itself.
        drop_quietly(hooks);
    }
}

/// When a hook is called.
#[derive(Clone, Copy)]
pub(super) enum Moment {
    BeforePoll,
    AfterPoll,
    Ended(Finish),
}

/// Calls the hook of a task, if its executor has hooks. Owner thread; nothing is borrowed.
#[inline]
pub(super) fn tell(task: &Header, moment: Moment) {
    if task.shared.has_hooks() {
        tell_hooks(task, moment);
    }
}

#[cold]
fn tell_hooks(task: &Header, moment: Moment) {
    let Some(local) = task.shared.local() else { return };
    // One that was refused on its way from another thread was never spawned.
    if !task.owned.record.get().has_slot() {
        return;
    }
    let meta = TaskMeta::of(task);
    // Also before its poll, and when it was cancelled: what the hook asks is asked of this task.
    let _entered = task.id.enter();
    local.hooks.call(|hooks| match moment {
        Moment::BeforePoll => hooks.before_poll(&meta),
        Moment::AfterPoll => hooks.after_poll(&meta),
        Moment::Ended(finish) => hooks.ended(&meta, finish.into()),
    });
}
