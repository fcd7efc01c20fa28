//! Hooks: what they are told, in order, and what one does that panics or uses the executor.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use clockworker::{Executor, Handle, Id, yield_now};
use clockworker_observe::{Observe, TaskEnd, TaskHooks, TaskMeta};

use crate::support::*;

/// Writes down what it is told, and may panic each time.
#[derive(Default)]
struct Log {
    told: Mutex<Vec<String>>,
    panics: bool,
}

impl Log {
    fn write(&self, what: &str, task: &TaskMeta) {
        let name = task.name.as_deref().unwrap_or("-");
        self.told.lock().unwrap().push(format!("{what} {name}"));
        assert!(!self.panics, "as planned");
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.told.lock().unwrap()).join(", ")
    }
}

impl TaskHooks for Log {
    fn spawned(&self, task: &TaskMeta) {
        assert!(task.location.file().ends_with("hooks.rs"));
        self.write("spawned", task);
    }

    fn before_poll(&self, task: &TaskMeta) {
        assert_eq!(Id::current(), Some(task.id));
        self.write("before", task);
    }

    fn after_poll(&self, task: &TaskMeta) {
        self.write("after", task);
    }

    fn ended(&self, task: &TaskMeta, how: TaskEnd) {
        assert_eq!(Id::current(), Some(task.id));
        self.write(&format!("{how:?}"), task);
    }
}

fn with_log() -> (Executor, Arc<Log>) {
    let (ex, log) = (Executor::new(), Arc::new(Log::default()));
    ex.set_hooks(Some(log.clone()));
    (ex, log)
}

#[test]
fn a_hook_is_told_of_spawn_polls_and_end() {
    let (ex, log) = with_log();
    let task = ex.default_queue().new_task().name("a").spawn(yield_now());
    assert_eq!(log.take(), "spawned a");
    ex.block_on(task).unwrap();
    assert_eq!(log.take(), "before a, after a, before a, after a, Completed a");
    let handle = ex.handle();
    let task = elsewhere(|| handle.spawn(|| ready(())));
    assert_eq!(log.take(), "", "it has not come in");
    ex.block_on(task).unwrap();
    assert_eq!(log.take(), "spawned -, before -, after -, Completed -");
}

#[test]
fn every_end_is_told_once_and_refusals_are_not() {
    let (ex, log) = with_log();
    let panics = ex.spawn(async { panic!("as planned") });
    assert!(ex.block_on(panics).is_err());
    assert_eq!(log.take(), "spawned -, before -, after -, Panicked -");

    let aborted = ex.spawn(pending::<()>());
    aborted.abort();
    assert!(ex.block_on(aborted).is_err());
    assert_eq!(log.take(), "spawned -, Cancelled -");

    let queue = ex.new_queue("closed").create().unwrap();
    queue.close();
    assert!(ex.block_on(queue.spawn(async {})).is_err());
    let handle = ex.handle();
    let refused = elsewhere(|| handle.spawn_on("closed", || ready(())));
    assert!(ex.block_on(refused).is_err());
    assert_eq!(log.take(), "");

    let left = ex.spawn(pending::<()>());
    drop(ex);
    assert!(left.is_finished());
    assert_eq!(log.take(), "spawned -, Cancelled -");
}

#[test]
fn panics_of_hooks_are_counted_and_nothing_else() {
    let ex = Executor::new();
    let log = Arc::new(Log { panics: true, ..Log::default() });
    ex.set_hooks(Some(log.clone()));
    let before = ex.stats();
    assert_eq!(ex.block_on(ex.spawn(async { 5 })).unwrap(), 5);
    let since = ex.stats().since(&before);
    assert_eq!((ex.observed().hook_panics, since.panicked, since.completed), (4, 0, 1));
    assert_eq!(log.take(), "spawned -, before -, after -, Completed -");
    ex.set_hooks(None);
    ex.block_on(ex.spawn(async {})).unwrap();
    assert_eq!(ex.observed().hook_panics, 4);
}

/// Calls this at each end of a task.
struct AtEnd<F>(F);

impl<F: Fn(&TaskMeta) + Send + Sync> TaskHooks for AtEnd<F> {
    fn ended(&self, task: &TaskMeta, _how: TaskEnd) {
        (self.0)(task);
    }
}

#[test]
fn a_hook_may_use_the_executor() {
    let ex = Executor::new();
    // No hook is told of what it spawns.
    ex.set_hooks(Some(Arc::new(AtEnd(|task: &TaskMeta| {
        if task.name.is_some() {
            drop(clockworker::spawn_local(async {}));
        }
    }))));
    ex.block_on(ex.default_queue().new_task().name("first").spawn(async {})).unwrap();
    ex.block_on(ex.drained());
    assert_eq!((ex.stats().completed, ex.observed().hook_panics), (2, 0));
}

#[test]
fn hooks_go_with_their_executor_whatever_is_left_of_it() {
    let (ex, held) = (Executor::new(), Arc::new(()));
    let (own, holds): (Handle, _) = (ex.handle(), held.clone());
    let hooks = move |_: &TaskMeta| note(format!("{} {}", own.is_stopped(), Arc::strong_count(&holds)));
    ex.set_hooks(Some(Arc::new(AtEnd(hooks))));
    let (task, handle) = (ex.spawn(pending::<()>()), ex.handle());
    assert_eq!(Arc::strong_count(&held), 2);
    drop(ex);
    assert_eq!((trace().as_str(), Arc::strong_count(&held)), ("true 2", 1));
    drop((task, handle));
}
