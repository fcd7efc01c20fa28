//! Hooks: what they are told, in order, and what one does that panics or uses the executor.

use std::sync::{Arc, Mutex};

use clockworker::observe::{TaskEnd, TaskHooks, TaskMeta};
use clockworker::{Executor, Handle, Id, yield_now};

/// Writes down what it is told.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn write(&self, what: &str, task: &TaskMeta) {
        let name = task.name.as_deref().unwrap_or("-");
        self.0.lock().unwrap().push(format!("{what} {name}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl TaskHooks for Log {
    fn spawned(&self, task: &TaskMeta) {
        assert!(task.location.file().ends_with("hooks.rs"));
        self.write("spawned", task);
    }

    fn before_poll(&self, task: &TaskMeta) {
        self.write("before", task);
    }

    fn after_poll(&self, task: &TaskMeta) {
        self.write("after", task);
    }

    fn ended(&self, task: &TaskMeta, how: TaskEnd) {
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
    assert_eq!(log.take(), ["spawned a"]);
    ex.block_on(task).unwrap();
    assert_eq!(log.take(), ["before a", "after a", "before a", "after a", "Completed a"]);
}

#[test]
fn every_end_is_told_once_and_refusals_are_not() {
    let (ex, log) = with_log();
    let panics = ex.spawn(async { panic!("as planned") });
    assert!(ex.block_on(panics).is_err());
    assert_eq!(log.take(), ["spawned -", "before -", "after -", "Panicked -"]);

    let aborted = ex.spawn(std::future::pending::<()>());
    aborted.abort();
    assert!(ex.block_on(aborted).is_err());
    assert_eq!(log.take(), ["spawned -", "Cancelled -"]);

    let queue = ex.new_queue("closed").create().unwrap();
    queue.close();
    assert!(ex.block_on(queue.spawn(async {})).is_err());
    let remote = ex.handle();
    let refused = std::thread::scope(|scope| {
        scope.spawn(move || remote.spawn_on("closed", || std::future::ready(()))).join().unwrap()
    });
    assert!(ex.block_on(refused).is_err());
    assert_eq!(log.take(), [""; 0]);

    let left = ex.spawn(std::future::pending::<()>());
    drop(ex);
    assert!(left.is_finished());
    assert_eq!(log.take(), ["spawned -", "Cancelled -"]);
}

#[test]
fn a_task_from_another_thread_is_told_here() {
    let (ex, log) = with_log();
    let handle = ex.handle();
    let task =
        std::thread::scope(|scope| scope.spawn(|| handle.spawn(|| std::future::ready(()))).join().unwrap());
    assert_eq!(log.take(), [""; 0]);
    ex.block_on(task).unwrap();
    assert_eq!(log.take(), ["spawned -", "before -", "after -", "Completed -"]);
}

/// Panics at each call.
struct Panics;

impl TaskHooks for Panics {
    fn spawned(&self, _task: &TaskMeta) {
        panic!("spawned");
    }

    fn before_poll(&self, _task: &TaskMeta) {
        panic!("before");
    }

    fn after_poll(&self, _task: &TaskMeta) {
        panic!("after");
    }

    fn ended(&self, _task: &TaskMeta, _how: TaskEnd) {
        panic!("ended");
    }
}

#[test]
fn panics_of_hooks_are_counted_and_nothing_else() {
    let ex = Executor::new();
    ex.set_hooks(Some(Arc::new(Panics)));
    let before = ex.stats();
    assert_eq!(ex.block_on(ex.spawn(async { 5 })).unwrap(), 5);
    let since = ex.stats().since(&before);
    assert_eq!((since.hook_panics, since.panicked, since.completed), (4, 0, 1));
    ex.set_hooks(None);
    ex.block_on(ex.spawn(async {})).unwrap();
    assert_eq!(ex.stats().since(&before).hook_panics, 4);
}

/// Spawns a task at each end, of which no hook is told.
struct Spawns;

impl TaskHooks for Spawns {
    fn ended(&self, task: &TaskMeta, _how: TaskEnd) {
        if task.name.is_some() {
            drop(clockworker::spawn_local(async {}));
        }
    }
}

#[test]
fn a_hook_may_use_the_executor() {
    let ex = Executor::new();
    ex.set_hooks(Some(Arc::new(Spawns)));
    ex.block_on(ex.default_queue().new_task().name("first").spawn(async {})).unwrap();
    ex.block_on(ex.drained());
    assert_eq!(ex.stats().completed, 2);
}

/// Holds a handle of the executor whose hooks it has.
struct HoldsHandle {
    handle: Handle,
    held: Arc<()>,
}

impl TaskHooks for HoldsHandle {
    fn ended(&self, _task: &TaskMeta, _how: TaskEnd) {
        assert!(self.handle.is_stopped() && Arc::strong_count(&self.held) == 2);
    }
}

#[test]
fn hooks_go_with_their_executor_whatever_is_left_of_it() {
    let (ex, held) = (Executor::new(), Arc::new(()));
    ex.set_hooks(Some(Arc::new(HoldsHandle { handle: ex.handle(), held: held.clone() })));
    let (task, handle) = (ex.spawn(std::future::pending::<()>()), ex.handle());
    assert_eq!(Arc::strong_count(&held), 2);
    drop(ex);
    assert_eq!(Arc::strong_count(&held), 1);
    drop((task, handle));
}

/// Asks for the id of the current task, each time that it is told of one.
#[derive(Default)]
struct AsksId(Mutex<Vec<bool>>);

impl TaskHooks for AsksId {
    fn before_poll(&self, task: &TaskMeta) {
        self.0.lock().unwrap().push(Id::current() == Some(task.id));
    }

    fn ended(&self, task: &TaskMeta, _how: TaskEnd) {
        self.0.lock().unwrap().push(Id::current() == Some(task.id));
    }
}

#[test]
fn the_current_task_of_a_hook_is_the_one_that_it_is_told_of() {
    let (ex, hooks) = (Executor::new(), Arc::new(AsksId::default()));
    ex.set_hooks(Some(hooks.clone()));
    let first = ex.spawn(yield_now());
    ex.spawn(yield_now());
    first.abort();
    ex.block_on(ex.drained());
    let told = std::mem::take(&mut *hooks.0.lock().unwrap());
    assert!(told.len() >= 4 && told.iter().all(|is_it| *is_it), "{told:?}");
}
