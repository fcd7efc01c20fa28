//! Nested queues at work: who goes first, preemption, grants, caps, and idle queues beside them.

use std::cell::RefCell;
use std::rc::Rc;

use clockworker::{Cap, schedulers::Las, yield_now};

use super::super::shares::SECOND;
use super::{below, top};
use crate::support::{OnDrop, Trace, VirtualTime, compute, poller, us};

/// A parent that works gets its first child in the middle of a slice, and shares with it from then on.
#[test]
fn a_task_makes_a_child_of_its_own_queue() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let parent = ex.new_queue("parent").request(us(20)).create().unwrap();
    let (sim2, trace2, parent2) = (sim.clone(), trace.clone(), parent.clone());
    let last = parent.spawn(async move {
        for poll in 1..=6 {
            trace2.note(format!("p{poll}"));
            sim2.work(us(10));
            if poll == 1 {
                let child = parent2.new_queue("child").request(us(20)).create().unwrap();
                child.spawn(poller(&sim2, &trace2, "c", 4, us(10)));
            }
            yield_now().await;
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "p1 p2 c1 c2 p3 p4 c3 c4 p5 p6");
    assert_eq!(ex.stats().busy, us(100));
}

/// Two queues of one branch contend, although at the top there is one: slices end on time.
#[test]
fn siblings_contend_where_their_parent_is_alone() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let parent = top(&ex, "parent", 1);
    for (name, letter) in [("a", "a"), ("b", "b")] {
        let child = parent.new_queue(name).request(us(20)).create().unwrap();
        child.spawn(poller(&sim, &trace, letter, 4, us(10)));
    }
    sim.drain(&ex);
    assert_eq!(trace.take(), "a1 a2 b1 b2 a3 a4 b3 b4");
    let slices: Vec<_> = ex.stats().queues.iter().map(|queue| queue.slices).collect();
    assert_eq!(slices, [0, 0, 2, 2]);
}

/// The parent's request bounds the slices of its branch beside others.
#[test]
fn a_slice_ends_with_the_request_of_a_parent() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let parent = ex.new_queue("parent").request(us(20)).create().unwrap();
    let child = parent.new_queue("child").request(us(1_000)).create().unwrap();
    let beside = ex.new_queue("beside").request(us(20)).create().unwrap();
    child.spawn(poller(&sim, &trace, "c", 4, us(10)));
    beside.spawn(poller(&sim, &trace, "b", 4, us(10)));
    sim.drain(&ex);
    assert_eq!(trace.take(), "c1 c2 b1 b2 c3 c4 b3 b4");
}

/// Who wakes is compared with who runs where their ways part: in the branch, or at the top.
#[test]
fn a_nested_queue_preempts_where_the_ways_part() {
    for (parents_request, order) in [(us(10), "b1 u1 b2 c1 u1 c2"), (us(5_000), "b1 b2 u1 c1 u1 c2")] {
        let (sim, trace) = (VirtualTime::new(), Trace::new());
        let ex = sim.executor();
        let parent = ex.new_queue("parent").request(parents_request).create().unwrap();
        let urgent = parent.new_queue("urgent").request(us(5)).create().unwrap();
        let child = below(&parent, "child", 1);
        let runs = |name: &'static str| {
            let (sim, trace, urgent) = (sim.clone(), trace.clone(), urgent.clone());
            async move {
                for poll in 1..=2 {
                    trace.note(format!("{name}{poll}"));
                    if poll == 1 {
                        urgent.spawn(poller(&sim, &trace, "u", 1, us(2)));
                    }
                    sim.work(us(10));
                    yield_now().await;
                }
            }
        };
        let beside = top(&ex, "beside", 1).spawn(runs("b"));
        sim.run(&ex, beside).unwrap();
        sim.drain(&ex);
        sim.run(&ex, child.spawn(runs("c"))).unwrap();
        assert_eq!(trace.take(), order);
    }
}

/// A nested queue's aborted futures are dropped soon, on its account, and its parent's.
#[test]
fn aborted_futures_are_dropped_soon() {
    let (sim, dropped) = (VirtualTime::new(), Rc::new(RefCell::new(None)));
    let ex = sim.executor();
    let parent = top(&ex, "parent", 1);
    let child = below(&parent, "child", 1);
    let guard = OnDrop::new({
        let (sim, dropped) = (sim.clone(), Rc::clone(&dropped));
        move || {
            sim.work(us(3));
            *dropped.borrow_mut() = Some(sim.now());
        }
    });
    let victim = child.spawn(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    sim.drain(&ex);
    below(&parent, "sibling", 1).spawn(compute(&sim, us(10)));
    ex.spawn(compute(&sim, us(10)));
    sim.run(&ex, sim.sleep_until(us(2_000)));
    victim.abort();
    assert!(sim.run(&ex, victim).unwrap_err().is_cancelled());
    assert_eq!(*dropped.borrow(), Some(us(2_003)), "at once, as neither it nor its parent owes anything");
    assert_eq!(child.stats().busy, us(3));
}

/// A cap holds below a parent; its siblings have what it leaves.
#[test]
fn a_nested_queue_may_be_capped() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (parent, beside) = (top(&ex, "parent", 1), top(&ex, "beside", 1));
    let tenth = Cap::new(us(10_000), us(100_000)).unwrap();
    let capped = parent.new_queue("capped").cap(tenth).create().unwrap();
    let free = below(&parent, "free", 1);
    for queue in [&capped, &free, &beside] {
        queue.spawn(compute(&sim, us(10)));
    }
    sim.run(&ex, sim.sleep_until(2 * SECOND));
    let got = [&capped, &free, &beside].map(|queue| queue.stats().busy);
    for (got, due) in got.into_iter().zip([1, 4, 5]) {
        assert!(got.abs_diff(due * SECOND / 5) <= us(2_000), "{got:?} of {due} times 200 ms");
    }
    // Alone in its branch it is throttled with it.
    free.close();
    free.abort_all();
    sim.run(&ex, sim.sleep_until(4 * SECOND));
    let (capped, beside) = (capped.stats().busy - got[0], beside.stats().busy - got[2]);
    assert!(capped.abs_diff(SECOND / 5) <= us(2_000), "{capped:?}");
    assert!(beside.abs_diff(9 * SECOND / 5) <= us(2_000), "{beside:?}");
}

#[test]
fn an_idle_queue_waits_for_all_branches() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let idle = ex.new_queue("idle").idle().create().unwrap();
    let child = below(&top(&ex, "parent", 1), "child", 1);
    idle.spawn(poller(&sim, &trace, "i", 2, us(10)));
    child.spawn(poller(&sim, &trace, "c", 2, us(10)));
    sim.drain(&ex);
    assert_eq!(trace.take(), "c1 c2 i1 i2");
    // And goes back for one at once.
    let (sim2, trace2) = (sim.clone(), trace.clone());
    let last = idle.spawn(async move {
        for poll in 1..=3 {
            trace2.note(format!("i{poll}"));
            if poll == 1 {
                child.spawn(poller(&sim2, &trace2, "c", 2, us(10)));
            }
            sim2.work(us(10));
            yield_now().await;
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "i1 c1 c2 i2 i3");
}

/// A nested queue is a queue as any other: with its own order inside, groups and limits.
#[test]
fn a_nested_queue_has_its_policy_and_its_limits() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let parent = top(&ex, "parent", 1);
    let child = parent.new_queue("child").scheduler(Las::new()).max_live(1).create().unwrap();
    let first = child.group(1).spawn(compute(&sim, us(5)));
    assert!(child.try_spawn(async {}).unwrap_err().is_full());
    sim.run(&ex, sim.sleep(us(100)));
    first.abort();
    let waited = child.spawn_when_room(async { clockworker::Queue::current().unwrap().name().to_owned() });
    let name = sim.run(&ex, async { waited.await.unwrap().await.unwrap() });
    assert_eq!((name.as_str(), child.stats().polls), ("child", 21));
}
