//! Finding queues and groups: by name, by key, and those of the calling task.

use std::future::pending;

use clockworker::{Executor, Group, Queue, spawn_local, yield_now};

use crate::support::{OnDrop, Slot, hold};

fn names(ex: &Executor) -> Vec<String> {
    ex.queues().iter().map(|queue| queue.name()).collect()
}

/// The queue's name and the group's key of a task.
type Place = (Option<String>, Option<u64>);

/// Those of the calling task.
fn current() -> Place {
    (Queue::current().map(|queue| queue.name()), Group::current().map(|group| group.key()))
}

#[test]
fn an_open_queue_is_found_by_its_name() {
    let ex = Executor::new();
    let a = ex.new_queue("a").share(3).create().unwrap();
    assert_eq!(ex.queue("a").unwrap().share(), 3);
    assert_eq!(ex.queue("default").unwrap().name(), "default");
    assert!(ex.queue("b").is_none() && ex.queue("").is_none());
    assert_eq!(names(&ex), ["default", "a"]);
    assert_eq!(ex.handle().queue_names(), ["a", "default"]);
    // Its name is free at once, and another queue's from then on.
    let task = a.spawn(pending::<()>());
    a.close();
    assert!(ex.queue("a").is_none());
    assert_eq!(ex.handle().queue_names(), ["default"]);
    let second = ex.new_queue("a").share(5).create().unwrap();
    assert_eq!(ex.queue("a").unwrap().share(), 5);
    assert_eq!(names(&ex), ["default", "a", "a"]);
    task.abort();
    ex.block_on(task).unwrap_err();
    assert_eq!(names(&ex), ["default", "a"]);
    drop(second);
    assert!(ex.queue("a").is_some(), "handles keep nothing open");
}

#[test]
fn none_is_found_after_a_shutdown_or_of_an_executor_that_is_gone() {
    let ex = Executor::new();
    let handle = ex.handle();
    ex.block_on_shutdown(async {});
    assert!(ex.queue("default").is_none());
    assert_eq!(names(&ex), ["default"], "it is there, and takes no tasks");
    drop(ex);
    assert_eq!(handle.queue_names(), [""; 0]);
}

#[test]
fn a_group_is_found_while_it_is_open() {
    let ex = Executor::new();
    let queue = ex.default_queue();
    assert!(queue.find_group(1).is_none());
    let task = queue.group(1).spawn(pending::<()>());
    let found = queue.find_group(1).unwrap();
    assert_eq!(found.key(), 1);
    ex.block_on(yield_now());
    task.abort();
    ex.block_on(task).unwrap_err();
    assert!(queue.find_group(1).is_some(), "what was found holds it");
    drop(found);
    assert!(queue.find_group(1).is_none());
    assert!(ex.new_queue("other").create().unwrap().find_group(1).is_none());
}

#[test]
fn a_task_knows_its_queue_and_its_group() {
    let ex = Executor::new();
    let other = ex.new_queue("other").create().unwrap();
    let here = |queue: &str, group| (Some(queue.to_owned()), group);
    assert_eq!(current(), (None, None));
    assert_eq!(ex.block_on(async { current() }), (None, None), "the main future has neither");
    assert_eq!(ex.block_on(ex.spawn(async { current() })).unwrap(), here("default", None));
    assert_eq!(ex.block_on(other.group(7).spawn(async { current() })).unwrap(), here("other", Some(7)));
    let child = other.group(8).spawn(async { spawn_local(async { current() }).await.unwrap() });
    assert_eq!(ex.block_on(child).unwrap(), here("other", Some(8)));
    let grandchild = other.group(9).spawn(async { clockworker::new_task().spawn(async { current() }).await });
    assert_eq!(ex.block_on(grandchild).unwrap().unwrap(), here("other", Some(9)));
    let _entered = ex.enter();
    assert_eq!(current(), (None, None), "no task is polled");
}

#[test]
fn inside_another_executor_it_is_the_inner_ones() {
    let (outer, inner) = (Executor::new(), Executor::builder().build().unwrap());
    let seen = outer.block_on(outer.default_queue().group(1).spawn(async move {
        let in_main = inner.block_on(async { current() });
        let in_task = inner.block_on(inner.default_queue().group(2).spawn(async { current() })).unwrap();
        (in_main, in_task.1, current().1)
    }));
    assert_eq!(seen.unwrap(), ((None, None), Some(2), Some(1)));
}

#[test]
fn a_future_that_is_dropped_knows_them_too() {
    let ex = Executor::new();
    let seen = Slot::new();
    let looks = seen.clone();
    let task = ex.default_queue().group(4).spawn(hold(OnDrop::new(move || looks.put(current()))));
    ex.block_on(yield_now());
    task.abort();
    ex.block_on(task).unwrap_err();
    assert_eq!(seen.take(), (Some("default".to_owned()), Some(4)));
}

/// A builder holds its group, also when the task that began it has ended.
#[test]
fn a_task_that_was_begun_in_a_group_is_spawned_there_whenever() {
    let ex = Executor::new();
    let queue = ex.default_queue();
    let begun = ex.block_on(queue.group(1).spawn(async { clockworker::new_task().tag(1) })).unwrap();
    let _other = queue.group(2); // would have its index
    assert_eq!(ex.block_on(begun.spawn(async { current().1 })).unwrap(), Some(1));
    assert!(queue.find_group(1).is_none());
}

#[test]
#[should_panic = "`clockworker::new_task` called outside an executor"]
fn a_task_is_begun_inside_an_executor_only() {
    let _ = clockworker::new_task();
}
