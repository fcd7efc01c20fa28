//! Tags: which task inherits one, who can read it, and what hooks are told of it.

use std::cell::RefCell;
use std::future::pending;
use std::sync::{Arc, Mutex};

use clockworker::schedulers::{Attributes, Priority};
use clockworker::{Executor, JoinSet, Queue, current_tag, new_task, spawn_local, yield_now};
use clockworker_observe::{Observe, TaskEnd, TaskHooks, TaskMeta};

use crate::support::*;

thread_local! {
    /// Which tags tasks saw, by their names.
    static SEEN: RefCell<Vec<(&'static str, Option<u64>)>> = const { RefCell::new(Vec::new()) };
}

/// Notes which tag is seen here.
fn see(name: &'static str) {
    SEEN.with_borrow_mut(|seen| seen.push((name, current_tag())));
}

/// A task that notes which tag it sees.
async fn sees(name: &'static str) {
    yield_now().await;
    see(name);
}

/// An executor with a second queue.
fn with_queue() -> (Executor, Queue) {
    let ex = Executor::new();
    let queue = ex.new_queue("other").create().unwrap();
    (ex, queue)
}

/// What was seen until no task was left, in the order of names.
fn seen(ex: &Executor) -> Vec<(&'static str, Option<u64>)> {
    ex.block_on(ex.drained());
    let mut seen = SEEN.take();
    seen.sort_unstable();
    seen
}

#[test]
fn a_task_and_what_it_calls_read_its_tag_and_nobody_else_does() {
    let (ex, queue) = with_queue();
    assert_eq!(current_tag(), None);
    let tagged = queue.new_task().tag(7).spawn(async {
        let before = current_tag();
        yield_now().await;
        (before, current_tag())
    });
    let other = queue.spawn(async { current_tag() });
    let zero = queue.new_task().tag(0).spawn(async { current_tag() });
    ex.block_on(async {
        assert_eq!(current_tag(), None);
        assert_eq!(tagged.await.unwrap(), (Some(7), Some(7)));
        assert_eq!((other.await.unwrap(), zero.await.unwrap()), (None, None));
        assert_eq!(current_tag(), None);
    });
    // Nor does the next task in its slot.
    assert_eq!(ex.block_on(queue.spawn(async { current_tag() })).unwrap(), None);
    let _entered = ex.enter();
    assert_eq!(current_tag(), None);
}

#[test]
fn every_way_to_spawn_inherits_it() {
    let (ex, queue) = with_queue();
    let home = ex.default_queue().clone();
    ex.default_queue().new_task().tag(7).spawn(async move {
        spawn_local(sees("local"));
        new_task().spawn(sees("local task"));
        home.spawn(sees("own queue"));
        queue.spawn(sees("queue"));
        queue.new_task().priority(1).spawn(sees("queue's task"));
        queue.group(1).spawn(sees("group"));
        queue.group(1).new_task().spawn(sees("group's task"));
        queue.try_spawn(sees("try")).unwrap();
        queue.spawn_when_room(sees("room")).await.unwrap();
        queue.group(1).try_spawn(sees("group, try")).unwrap();
        let mut set = JoinSet::new();
        set.spawn_local(sees("set"));
        set.spawn_local_on(sees("set on queue"), &queue);
        set.spawn_local_on(sees("set on task"), &queue.new_task());
        set.detach_all();
        let child = queue.clone();
        queue.spawn(async move { drop(child.spawn(sees("grandchild"))) });
    });
    let seen = seen(&ex);
    assert_eq!(seen.len(), 14);
    assert!(seen.iter().all(|&(_, tag)| tag == Some(7)), "{seen:?}");
}

#[test]
fn a_builder_says_another_tag_or_none() {
    let (ex, queue) = with_queue();
    queue.clone().new_task().tag(7).spawn(async move {
        new_task().tag(8).spawn(sees("a"));
        new_task().tag(0).spawn(sees("b"));
        queue.new_task().tag(9).spawn(sees("c"));
        queue.new_task().tag(0).spawn(sees("d"));
        queue.new_task().attributes(Attributes::new()).spawn(sees("e"));
        queue.group(1).new_task().attributes(Attributes::new().with_tag(10)).spawn(sees("f"));
    });
    let expected = [("a", Some(8)), ("b", None), ("c", Some(9)), ("d", None), ("e", None), ("f", Some(10))];
    assert_eq!(seen(&ex), expected);
}

#[test]
fn what_no_task_spawns_has_none() {
    let (ex, queue) = with_queue();
    // One is there, which waits.
    let waits = queue.new_task().tag(7).spawn(pending::<()>());
    queue.spawn(sees("outside"));
    ex.block_on(async {
        yield_now().await;
        spawn_local(sees("main"));
        new_task().spawn(sees("main's task"));
        queue.spawn(sees("main's queue"));
    });
    waits.abort();
    let expected = [("main", None), ("main's queue", None), ("main's task", None), ("outside", None)];
    assert_eq!(seen(&ex), expected);
}

#[test]
fn a_handle_inherits_nothing_and_says_what_children_inherit() {
    let (ex, _queue) = with_queue();
    let handle = ex.handle();
    let inner = handle.clone();
    let here = async move { inner.spawn(|| async { current_tag() }).await.unwrap() };
    assert_eq!(ex.block_on(ex.default_queue().new_task().tag(7).spawn(here)).unwrap(), None);
    let child = || async { spawn_local(async { current_tag() }).await.unwrap() };
    let (plain, tagged) =
        elsewhere(|| (handle.spawn(child), handle.new_task().queue("other").tag(8).spawn(child)));
    assert_eq!(ex.block_on(async { (plain.await.unwrap(), tagged.await.unwrap()) }), (None, Some(8)));
}

#[test]
fn what_is_dropped_still_knows_it() {
    let (ex, queue) = with_queue();
    let task = queue.new_task().tag(7).spawn(hold(OnDrop::new(|| {
        see("dropped");
        drop(Queue::current().unwrap().spawn(sees("queue")));
        drop(spawn_local(sees("local")));
    })));
    settle(&ex);
    task.abort();
    assert_eq!(seen(&ex), ["dropped", "local", "queue"].map(|name| (name, Some(7))));
}

/// Spawns tasks before a poll of one that has a name, and notes the tags of all.
#[derive(Default)]
struct Hooks(Mutex<Vec<(&'static str, Option<u64>)>>);

impl Hooks {
    fn note(&self, what: &'static str, task: &TaskMeta) {
        self.0.lock().unwrap().push((what, task.tag));
    }
}

impl TaskHooks for Hooks {
    fn spawned(&self, task: &TaskMeta) {
        self.note("spawned", task);
    }

    fn before_poll(&self, task: &TaskMeta) {
        assert_eq!(task.tag, current_tag());
        self.note("before", task);
        if task.name.is_some() {
            drop(spawn_local(sees("local")));
            drop(new_task().spawn(sees("task")));
            drop(Queue::find("other").unwrap().spawn(sees("queue")));
        }
    }

    fn after_poll(&self, task: &TaskMeta) {
        self.note("after", task);
    }

    fn ended(&self, task: &TaskMeta, how: TaskEnd) {
        assert_eq!(how, TaskEnd::Completed);
        self.note("ended", task);
    }
}

#[test]
fn hooks_are_told_of_it_and_what_they_spawn_has_none() {
    let (ex, queue) = with_queue();
    let hooks = Arc::new(Hooks::default());
    ex.set_hooks(Some(hooks.clone()));
    let parent = ex.default_queue().new_task().name("parent").tag(7).spawn(async move {
        queue.spawn(async {}).await.unwrap();
    });
    ex.block_on(parent).unwrap();
    let told = std::mem::take(&mut *hooks.0.lock().unwrap());
    let count = |what| told.iter().filter(|&&told| told == (what, Some(7))).count();
    // The parent is polled twice, the child once.
    assert_eq!(["spawned", "before", "after", "ended"].map(count), [2, 3, 3, 2]);
    assert!(told.iter().all(|&(what, tag)| tag == Some(7) || (what != "spawned" && tag.is_none())));
    // Before each poll of the parent three were spawned.
    let expected = [("local", None), ("queue", None), ("task", None)].map(|seen| [seen; 2]).concat();
    assert_eq!(seen(&ex), expected);
    assert_eq!(ex.observed().hook_panics, 0);
}

#[test]
fn an_inherited_tag_leaves_a_task_the_priority_of_its_group() {
    let ex = Executor::builder().scheduler(Priority::new()).build().unwrap();
    let queue = ex.default_queue();
    let urgent = queue.new_group(1).priority(5).open().unwrap();
    let parent = queue.new_task().tag(7).spawn(async move {
        spawn_local(async { see("plain") });
        urgent.spawn(async { see("urgent") });
    });
    ex.block_on(parent).unwrap();
    ex.block_on(ex.drained());
    assert_eq!(SEEN.take(), [("urgent", Some(7)), ("plain", Some(7))]);
}
