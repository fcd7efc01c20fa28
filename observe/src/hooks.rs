//! [`TaskHooks`]: what is called as tasks begin, are polled, and end.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clockworker::Id;
use clockworker::probe::{TaskEnd, TaskView};

use crate::quietly::call_quietly;

/// Is called as tasks begin, are polled, and end: see [`Observe::set_hooks`](crate::Observe::set_hooks). Each method does nothing
/// unless it is written.
///
/// All are called on the executor's thread, and may use the executor; what else happens while a hook runs, no hook is told. A task that
/// a hook spawns inherits no attributes. The time of a hook is billed as that of the poll or the spawn. A panic of a hook is caught, and counted in
/// [`Observed::hook_panics`](crate::Observed::hook_panics); everything goes on.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use clockworker_observe::{Observe, TaskEnd, TaskHooks, TaskMeta};
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
    /// The index of its queue, as in a [`Timeline`](crate::Timeline).
    pub queue: u32,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
    /// Its [tag](clockworker::TaskBuilder::tag), if it has one: its own, or inherited.
    pub tag: Option<u64>,
}

impl TaskMeta {
    pub(crate) fn of(task: &TaskView<'_>) -> Self {
        Self {
            id: task.id(),
            name: task.name().cloned(),
            queue: task.place().queue,
            location: task.location(),
            tag: task.tag(),
        }
    }
}

/// Whether a hook of an executor runs, and how many have panicked.
#[derive(Debug, Default)]
pub(crate) struct HookCalls {
    is_calling: AtomicBool,
    pub(crate) panics: AtomicU64,
}

impl HookCalls {
    /// Calls a hook of the task, unless one of them is the caller. While it runs, no other is called. On the executor's thread.
    pub(crate) fn call(
        &self,
        hooks: &dyn TaskHooks,
        task: &TaskView<'_>,
        hook: impl FnOnce(&dyn TaskHooks, &TaskMeta),
    ) {
        // Ordering: Relaxed here and below. Only the executor's thread reads and writes it.
        if self.is_calling.load(Ordering::Relaxed) {
            return;
        }
        let meta = TaskMeta::of(task);
        self.is_calling.store(true, Ordering::Relaxed);
        if call_quietly(|| hook(hooks, &meta)).is_none() {
            self.panics.fetch_add(1, Ordering::Relaxed);
        }
        self.is_calling.store(false, Ordering::Relaxed);
    }
}
