//! Cycles of tasks and handles, and what is left of an executor.

use std::cell::RefCell;
use std::rc::Rc;

use clockworker::schedulers::Las;
use clockworker::{Executor, JoinError, JoinHandle, yield_now};

use crate::support::{Count, hold, output, settle, untimed};

#[test]
fn two_tasks_that_hold_each_others_handles_are_dropped_with_the_executor() {
    type Held = Rc<RefCell<Option<JoinHandle<()>>>>;
    let drops = Count::default();
    let ex = untimed();
    let (to_a, to_b): (Held, Held) = (Rc::default(), Rc::default());
    let awaits = |held: &Held| {
        let (held, guard) = (Rc::clone(held), drops.guard());
        async move {
            let _guard = guard;
            yield_now().await;
            let handle = held.take().expect("set below");
            let _ = handle.await;
        }
    };
    let (a, b) = (ex.spawn(awaits(&to_b)), ex.spawn(awaits(&to_a)));
    to_a.replace(Some(a));
    to_b.replace(Some(b));
    settle(&ex);
    assert_eq!((drops.get(), ex.stats().live), (0, 2));
    drop(ex);
    assert_eq!(drops.get(), 2);
}

#[test]
fn a_task_that_awaits_itself_is_dropped_with_the_executor() {
    let held: Rc<RefCell<Option<JoinHandle<()>>>> = Rc::default();
    let (own, drops) = (Rc::clone(&held), Count::default());
    let guard = drops.guard();
    let ex = untimed();
    let task = ex.spawn(async move {
        let _guard = guard;
        let handle = own.take().expect("set below");
        let _ = handle.await;
    });
    held.replace(Some(task));
    settle(&ex);
    drop(ex);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_task_may_hold_its_own_queue_and_group_and_is_still_freed_with_the_executor() {
    let freed = Rc::new(());
    let ex = untimed();
    let queue = ex.new_queue("own").scheduler(Las::new()).create().unwrap();
    let group = queue.group(1);
    let held = (queue.clone(), group.clone(), ex.handle(), Rc::clone(&freed));
    group.spawn(hold(held));
    drop((queue, group));
    settle(&ex);
    assert_eq!(Rc::strong_count(&freed), 2);
    drop(ex);
    assert_eq!(Rc::strong_count(&freed), 1);
}

#[test]
fn what_is_left_of_an_executor_refuses_and_shows_its_last_numbers() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let group = queue.group(1);
    queue.spawn(async {});
    settle(&ex);
    drop(ex);
    let refused = |result: Result<(), JoinError>| result.unwrap_err().is_refused();
    assert!(refused(output(queue.spawn(async {}))) && refused(output(group.spawn(async {}))));
    assert_eq!((queue.stats().completed, queue.stats().live), (1, 0));
    queue.close();
    assert!(queue.is_closed());
    drop(group.clone());
    drop(queue.group(2));
}

#[test]
fn executors_that_could_not_be_built_and_those_that_were_never_used_leave_nothing_behind() {
    // What they would leave, LeakSanitizer sees.
    for _ in 0..10 {
        assert!(Executor::builder().share(0).build().unwrap_err().queue_error().is_some());
        assert!(Executor::builder().poll_cap(0).build().unwrap_err().is_poll_cap());
        drop(untimed());
        let unrun = untimed();
        drop(unrun.spawn(async {}));
        drop(unrun.run_until(async {}));
        let _ = (unrun.handle(), unrun.default_queue().clone());
    }
}
