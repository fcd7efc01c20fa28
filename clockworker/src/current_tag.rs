//! [`current_tag`]: what the running task was tagged with.

use crate::run::context;

/// The tag of the task that runs on this thread: the [one it was spawned with](crate::TaskBuilder::tag), or that of the task that
/// spawned it. Any code that the task calls can ask, also while its future is dropped after its end or an abort (not when its
/// executor ends).
///
/// None outside tasks, and in a task that has none; a tag of 0 is none. The future given to
/// [`run_until`](crate::Executor::run_until) is no task of its executor.
///
/// # Example
///
/// The number of a request, in all the tasks that work for it:
///
/// ```
/// use clockworker::{Executor, current_tag};
///
/// let ex = Executor::new();
/// let disk = ex.new_queue("disk").create().unwrap();
/// let request = ex.default_queue().new_task().tag(4711).spawn(async move {
///     disk.spawn(async { current_tag() }).await.unwrap()
/// });
/// assert_eq!(ex.block_on(request).unwrap(), Some(4711));
/// assert_eq!(current_tag(), None);
/// ```
pub fn current_tag() -> Option<u64> {
    context::with_current(|core| core.current_tag()).flatten().map(u64::from)
}
