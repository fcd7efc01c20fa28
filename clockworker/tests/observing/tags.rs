//! Tags: which task inherits one, who can read it, and what hooks are told of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use clockworker::observe::{TaskEnd, TaskHooks, TaskMeta};
use clockworker::schedulers::{Attributes, Priority};
use clockworker::{Executor, JoinSet, Queue, current_tag, new_task, spawn_local, yield_now};

/// What a task spawns, by names.
type Said = Rc<RefCell<Vec<(&'static str, Option<u64>)>>>;

/// Says, when it is polled, which tag it sees.
async fn says(said: Said, name: &'static str) {
    yield_now().await;
    said.borrow_mut().push((name, current_tag()));
}

/// An executor with a second queue.
fn world() -> (Executor, Queue, Said) {
    let ex = Executor::new();
    let queue = ex.new_queue("other").create().unwrap();
    (ex, queue, Said::default())
}

/// What was said until no task was left, in the order of names.
fn said(ex: &Executor, said: &Said) -> Vec<(&'static str, Option<u64>)> {
    ex.block_on(ex.drained());
    let mut said = said.take();
    said.sort_unstable();
    said
}

#[test]
fn a_task_and_what_it_calls_read_its_tag_and_nobody_else_does() {
    let (ex, queue, _) = world();
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
    let _entered = ex.enter();
    assert_eq!(current_tag(), None);
}

#[test]
fn every_way_to_spawn_inherits_it() {
    let (ex, queue, all) = world();
    let (out, home) = (Rc::clone(&all), ex.default_queue().clone());
    let says = move |name| says(Rc::clone(&out), name);
    ex.default_queue().new_task().tag(7).spawn(async move {
        spawn_local(says("local"));
        new_task().spawn(says("local task"));
        home.spawn(says("own queue"));
        queue.spawn(says("queue"));
        queue.new_task().priority(1).spawn(says("queue's task"));
        queue.group(1).spawn(says("group"));
        queue.group(1).new_task().spawn(says("group's task"));
        queue.try_spawn(says("try")).unwrap();
        queue.spawn_when_room(says("room")).await.unwrap();
        queue.group(1).try_spawn(says("group, try")).unwrap();
        let mut set = JoinSet::new();
        set.spawn_local(says("set"));
        set.spawn_local_on(says("set on queue"), &queue);
        set.spawn_local_on(says("set on task"), &queue.new_task());
        set.detach_all();
        let child = queue.clone();
        queue.spawn(async move { drop(child.spawn(says("grandchild"))) });
    });
    let found = said(&ex, &all);
    assert_eq!(found.len(), 14);
    assert_eq!(found.into_iter().filter(|&(_, tag)| tag != Some(7)).collect::<Vec<_>>(), []);
}

#[test]
fn a_builder_says_another_tag_or_none() {
    let (ex, queue, all) = world();
    let out = Rc::clone(&all);
    let says = move |name| says(Rc::clone(&out), name);
    queue.clone().new_task().tag(7).spawn(async move {
        new_task().tag(8).spawn(says("a"));
        new_task().tag(0).spawn(says("b"));
        queue.new_task().tag(9).spawn(says("c"));
        queue.new_task().tag(0).spawn(says("d"));
        queue.new_task().attributes(Attributes::new()).spawn(says("e"));
        queue.group(1).new_task().attributes(Attributes::new().with_tag(10)).spawn(says("f"));
    });
    let expected = [("a", Some(8)), ("b", None), ("c", Some(9)), ("d", None), ("e", None), ("f", Some(10))];
    assert_eq!(said(&ex, &all), expected);
}

#[test]
fn what_no_task_spawns_has_none() {
    let (ex, queue, all) = world();
    let says = |name| says(Rc::clone(&all), name);
    // One is there, which waits.
    let waits = queue.new_task().tag(7).spawn(std::future::pending::<()>());
    queue.spawn(says("outside"));
    ex.block_on(async {
        yield_now().await;
        spawn_local(says("main"));
        new_task().spawn(says("main's task"));
        queue.spawn(says("main's queue"));
    });
    waits.abort();
    let expected = [("main", None), ("main's queue", None), ("main's task", None), ("outside", None)];
    assert_eq!(said(&ex, &all), expected);
}

#[test]
fn a_handle_inherits_nothing_and_its_builder_says_what_the_children_inherit() {
    let (ex, _queue, _) = world();
    let handle = ex.handle();
    let inner = handle.clone();
    let here = ex
        .default_queue()
        .new_task()
        .tag(7)
        .spawn(async move { inner.spawn(|| async { current_tag() }).await.unwrap() });
    assert_eq!(ex.block_on(here).unwrap(), None);
    let (plain, tagged) = std::thread::scope(|scope| {
        let spawns = || {
            let child = || async { spawn_local(async { current_tag() }).await.unwrap() };
            (handle.spawn(child), handle.new_task().queue("other").tag(8).spawn(child))
        };
        scope.spawn(spawns).join().unwrap()
    });
    assert_eq!(ex.block_on(async { (plain.await.unwrap(), tagged.await.unwrap()) }), (None, Some(8)));
}

#[test]
fn what_is_dropped_still_knows_it() {
    struct Says(Said, &'static str);
    impl Drop for Says {
        fn drop(&mut self) {
            self.0.borrow_mut().push((self.1, current_tag()));
            drop(Queue::current().unwrap().spawn(says(Rc::clone(&self.0), "spawned by a drop")));
        }
    }
    let (ex, queue, all) = world();
    let dropped = Says(Rc::clone(&all), "dropped");
    let task = queue.new_task().tag(7).spawn(async move {
        let _dropped = dropped;
        std::future::pending::<()>().await;
    });
    ex.block_on(yield_now());
    task.abort();
    assert_eq!(said(&ex, &all), [("dropped", Some(7)), ("spawned by a drop", Some(7))]);
}

#[test]
fn a_task_that_was_lent_a_place_keeps_its_own() {
    let (ex, queue, _) = world();
    let home = ex.default_queue().clone();
    let lends = home.clone().new_task().tag(1).spawn(async move {
        let borrower = queue.new_task().tag(2).spawn(async {
            yield_now().await;
            (current_tag(), spawn_local(async { current_tag() }).await.unwrap())
        });
        borrower.lending().await.unwrap()
    });
    assert_eq!(ex.block_on(lends).unwrap(), (Some(2), Some(2)));
}

#[test]
fn the_last_of_a_tag_passes_none_on_to_its_slot() {
    let (ex, queue, _) = world();
    ex.block_on(queue.new_task().tag(7).spawn(async {})).unwrap();
    let next = queue.spawn(async { (current_tag(), spawn_local(async { current_tag() }).await.unwrap()) });
    assert_eq!(ex.block_on(next).unwrap(), (None, None));
}

/// Spawns a task when one ends that has a name, and notes the tags of all.
struct Hooks {
    queue: String,
    told: Mutex<Vec<(&'static str, Option<u64>)>>,
}

impl Hooks {
    fn tell(&self, what: &'static str, task: &TaskMeta) {
        self.told.lock().unwrap().push((what, task.tag));
    }
}

impl TaskHooks for Hooks {
    fn spawned(&self, task: &TaskMeta) {
        self.tell("spawned", task);
    }

    fn before_poll(&self, task: &TaskMeta) {
        assert_eq!(task.tag, current_tag());
        self.tell("before", task);
        if task.name.is_some() {
            drop(spawn_local(async { assert_eq!(current_tag(), None) }));
            drop(new_task().spawn(async { assert_eq!(current_tag(), None) }));
            drop(Queue::find(&self.queue).unwrap().spawn(async { assert_eq!(current_tag(), None) }));
        }
    }

    fn after_poll(&self, task: &TaskMeta) {
        self.tell("after", task);
    }

    fn ended(&self, task: &TaskMeta, how: TaskEnd) {
        assert_eq!(how, TaskEnd::Completed);
        self.tell("ended", task);
    }
}

#[test]
fn hooks_are_told_of_it_and_what_they_spawn_has_none() {
    let (ex, queue, _) = world();
    let hooks = Arc::new(Hooks { queue: queue.name(), told: Mutex::default() });
    ex.set_hooks(Some(hooks.clone()));
    let told = || std::mem::take(&mut *hooks.told.lock().unwrap());
    let parent = ex.default_queue().new_task().name("parent").tag(7).spawn(async move {
        queue.spawn(async {}).await.unwrap();
    });
    assert_eq!(told(), [("spawned", Some(7))]);
    ex.block_on(parent).unwrap();
    let (of_tag, others): (Vec<_>, Vec<_>) = told().into_iter().partition(|&(_, tag)| tag == Some(7));
    // The parent is polled twice, the child once.
    let words: Vec<_> = of_tag.into_iter().map(|(what, _)| what).collect();
    assert_eq!(words.iter().filter(|&&what| what == "before").count(), 3, "{words:?}");
    assert_eq!(words.iter().filter(|&&what| what == "spawned").count(), 1);
    assert_eq!(words.iter().filter(|&&what| what == "ended").count(), 2);
    assert!(others.iter().all(|&(what, tag)| what != "spawned" && tag.is_none()));
    ex.block_on(ex.drained());
    assert_eq!(ex.stats().hook_panics, 0);
}

#[test]
fn an_inherited_tag_leaves_a_task_the_priority_of_its_group() {
    let ex = Executor::builder().scheduler(Priority::new()).build().unwrap();
    let queue = ex.default_queue().clone();
    let urgent = queue.new_group(1).priority(5).open().unwrap();
    let order = Said::default();
    let parent = {
        let order = order.clone();
        queue.new_task().tag(7).spawn(async move {
            for (name, of) in [("plain", None), ("urgent", Some(urgent))] {
                let order = order.clone();
                let task = async move { order.borrow_mut().push((name, current_tag())) };
                match of {
                    None => spawn_local(task),
                    Some(group) => group.spawn(task),
                };
            }
        })
    };
    ex.block_on(parent).unwrap();
    ex.block_on(ex.drained());
    assert_eq!(order.take(), [("urgent", Some(7)), ("plain", Some(7))]);
}
