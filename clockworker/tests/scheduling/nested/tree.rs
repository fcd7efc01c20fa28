//! The tree itself: parents, children, closing, and what is refused.

use std::future::pending;

use clockworker::{Cap, Executor, MAX_DEPTH};

use super::{below, top};
use crate::support::{Trace, VirtualTime, compute, poller, us};

#[test]
fn a_queue_knows_its_parent_and_its_children() {
    let ex = Executor::new();
    let parent = top(&ex, "parent", 1);
    let (b, a) = (below(&parent, "b", 1), below(&parent, "a", 1));
    let grandchild = below(&a, "grandchild", 1);
    let names = |queues: Vec<clockworker::Queue>| {
        queues.iter().map(|queue| queue.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(parent.children()), "b a");
    assert_eq!((names(a.children()), names(b.children())), ("grandchild".to_owned(), String::new()));
    assert!(parent.parent().is_none() && ex.default_queue().children().is_empty());
    assert_eq!(grandchild.parent().unwrap().name(), "a");
    assert_eq!((grandchild.stats().parent.as_deref(), parent.stats().parent), (Some("a"), None));
    assert_eq!(ex.queue("grandchild").unwrap().name(), "grandchild", "names are the executor's");
    let error = b.new_queue("a").create().unwrap_err();
    assert!(error.is_name_taken());
    assert_eq!(b.children().len(), 0);
}

#[test]
fn what_cannot_be_nested_is_refused() {
    let ex = Executor::new();
    let quarter = Cap::new(us(250), us(1_000)).unwrap();
    let idle = ex.new_queue("idle").idle().create().unwrap();
    let capped = ex.new_queue("capped").cap(quarter).create().unwrap();
    let parent = top(&ex, "parent", 1);
    let child = below(&parent, "child", 1);
    let errors = [
        idle.new_queue("x").create().unwrap_err(),
        parent.new_queue("x").idle().create().unwrap_err(),
        capped.new_queue("x").create().unwrap_err(),
        parent.set_cap(Some(quarter)).unwrap_err(),
    ];
    let texts = errors.each_ref().map(ToString::to_string);
    assert_eq!(
        texts,
        [
            "an idle queue can have neither a parent nor children",
            "an idle queue can have neither a parent nor children",
            "the queue \"capped\" cannot have both children and a cap: cap the children",
            "the queue \"parent\" cannot have both children and a cap: cap the children",
        ]
    );
    assert!(errors.iter().all(|error| error.is_nesting() && !error.is_closed()));
    assert!(ex.queue("x").is_none(), "no name is kept");
    // A share out of range is said as ever.
    assert!(parent.new_queue("x").share(0).create().unwrap_err().is_share());
    // Without its cap, or its child, each may.
    capped.set_cap(None).unwrap();
    below(&capped, "y", 1);
    child.close();
    parent.set_cap(Some(quarter)).unwrap();
    assert!(parent.new_queue("x").create().unwrap_err().is_nesting());
}

#[test]
fn a_tree_has_a_greatest_depth() {
    let ex = Executor::new();
    let mut queue = top(&ex, "0", 1);
    for depth in 1..=MAX_DEPTH {
        queue = below(&queue, &depth.to_string(), 1);
    }
    let error = queue.new_queue("x").create().unwrap_err();
    assert!(error.is_nesting());
    assert_eq!(error.to_string(), "at most 8 queues may be above a queue, not 9");
    assert!(ex.queue("x").is_none());
}

#[test]
fn a_closed_queue_has_no_new_children() {
    let ex = Executor::new();
    let parent = top(&ex, "parent", 1);
    drop(parent.spawn(pending::<()>()));
    parent.close();
    let error = parent.new_queue("x").create().unwrap_err();
    assert!(error.is_closed() && !error.is_nesting());
    assert_eq!(error.to_string(), "the parent \"parent\" is closed");
    assert_eq!(parent.abort_all(), 1);
    ex.block_on(async {
        while ex.queue("parent").is_some() || ex.stats().live > 0 {
            clockworker::yield_now().await;
        }
    });
    assert_eq!(ex.stats().queues.len(), 1);
    assert!(parent.new_queue("x").create().unwrap_err().is_closed(), "gone");
    drop(ex);
    assert!(parent.new_queue("x").create().is_err());
}

#[test]
fn a_stopped_executor_nests_no_more() {
    let ex = Executor::new();
    let parent = top(&ex, "parent", 1);
    drop(ex);
    assert!(parent.new_queue("x").create().unwrap_err().is_stopped());
    assert!(parent.children().is_empty() && parent.parent().is_none());
}

/// Closing a queue closes its branch; each goes with the last of its tasks and children.
#[test]
fn a_branch_is_closed_as_one() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let parent = top(&ex, "parent", 1);
    let child = below(&parent, "child", 1);
    let grandchild = below(&child, "grandchild", 1);
    let left = grandchild.spawn(poller(&sim, &trace, "g", 3, us(10)));
    drop(parent.spawn(poller(&sim, &trace, "p", 1, us(10))));
    parent.close();
    assert!([&parent, &child, &grandchild].iter().all(|queue| queue.is_closed()));
    assert!(ex.block_on(grandchild.spawn(async {})).unwrap_err().is_refused());
    assert_eq!(ex.stats().queues.len(), 4, "the grandchild has a task, so all above it stay");
    sim.run(&ex, left).unwrap();
    assert_eq!(trace.take().split(' ').count(), 4);
    assert_eq!(ex.stats().queues.len(), 1);
    assert_eq!(grandchild.parent().unwrap().name(), "child", "also once it is gone");
    assert_eq!(parent.stats().branch_busy, us(40));
    // The places are any queue's.
    let again = top(&ex, "parent", 1);
    below(&again, "child", 1).spawn(poller(&sim, &trace, "c", 1, us(10)));
    sim.drain(&ex);
    assert_eq!((trace.take().as_str(), parent.children().len()), ("c1", 0));
}

#[test]
fn a_parent_goes_with_its_last_child_although_that_closed_first() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let parent = top(&ex, "parent", 1);
    let child = below(&parent, "child", 1);
    let task = child.spawn(async {});
    child.close();
    parent.close();
    assert_eq!(ex.stats().queues.len(), 3);
    sim.run(&ex, task).unwrap();
    assert_eq!(ex.stats().queues.len(), 1);
}

#[test]
fn trees_come_and_go_by_the_hundred() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    for round in 0..200_u32 {
        let parent = top(&ex, "parent", 1 + round % 3);
        let children: Vec<_> = (0..round % 5).map(|n| below(&parent, &format!("child {n}"), 1 + n)).collect();
        for child in &children {
            let task = child.spawn(compute(&sim, us(5)));
            if round % 2 == 0 {
                child.spawn(poller(&sim, &Trace::new(), "", 3, us(5)));
            }
            sim.run(&ex, sim.sleep(us(20)));
            task.abort();
        }
        parent.close();
        if round % 3 > 0 {
            sim.drain(&ex);
        }
    }
    sim.drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.queues.len(), stats.live, stats.busy), (1, 0, sim.now()));
}

#[test]
fn dropping_the_executor_cancels_a_whole_tree() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let parent = top(&ex, "parent", 1);
    let child = below(&parent, "child", 1);
    let tasks = [parent.spawn(compute(&sim, us(5))), child.spawn(compute(&sim, us(5)))];
    sim.run(&ex, sim.sleep(us(100)));
    drop(ex);
    assert!(tasks.iter().all(|task| task.is_finished()));
    assert_eq!((parent.stats().live, child.stats().live), (0, 0));
}
