//! Queues below queues: what may be nested, who goes first, what each gets, and how a branch goes.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::Las;
use clockworker::{Cap, Executor, MAX_DEPTH, Queue, yield_now};

use super::shares::SECOND;
use crate::support::*;

/// A queue at the top, and one below it.
const PARENT_AND_CHILD: &str = "parent\n child below=parent";

// ---- The tree

#[test]
fn a_queue_knows_its_parent_and_its_children() {
    let ex = scene("parent\n b below=parent\n a below=parent\n grandchild below=a");
    let children = |name| {
        let names = queue(&ex, name).children().into_iter().map(|queue| queue.name());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(["parent", "a", "b", "default"].map(children), ["b a", "grandchild", "", ""]);
    let [parent, grandchild] = ["parent", "grandchild"].map(|name| queue(&ex, name));
    assert_eq!((parent.parent().is_none(), grandchild.parent().unwrap().name().as_str()), (true, "a"));
    assert_eq!((grandchild.stats().parent.as_deref(), parent.stats().parent), (Some("a"), None));
    // Names are the executor's.
    assert!(queue(&ex, "b").new_queue("a").create().unwrap_err().is_name_taken());
    assert_eq!(children("b"), "");
}

#[test]
fn what_cannot_be_nested_is_refused() {
    let ex = scene("idle idle\n capped cap=1/4\n parent\n child below=parent");
    let [idle, capped, parent] = ["idle", "capped", "parent"].map(|name| queue(&ex, name));
    let quarter = Some(Cap::new(us(250), us(1_000)).unwrap());
    let errors = [
        idle.new_queue("x").create().unwrap_err(),
        parent.new_queue("x").idle().create().unwrap_err(),
        capped.new_queue("x").create().unwrap_err(),
        parent.set_cap(quarter).unwrap_err(),
    ];
    let texts = [
        "an idle queue can have neither a parent nor children",
        "an idle queue can have neither a parent nor children",
        "the queue \"capped\" cannot have both children and a cap: cap the children",
        "the queue \"parent\" cannot have both children and a cap: cap the children",
    ];
    assert_eq!(errors.each_ref().map(ToString::to_string), texts);
    assert!(errors.iter().all(|error| error.is_nesting() && !error.is_closed()));
    assert!(ex.queue("x").is_none(), "no name is kept");
    // A share out of range is said as ever.
    assert!(parent.new_queue("x").share(0).create().unwrap_err().is_share());
    // Without its cap, or its child, each may.
    capped.set_cap(None).unwrap();
    add(&ex, "y below=capped");
    queue(&ex, "child").close();
    parent.set_cap(quarter).unwrap();
    assert!(parent.new_queue("x").create().unwrap_err().is_nesting());
}

#[test]
fn a_tree_has_a_greatest_depth() {
    let ex = scene("0");
    (0..MAX_DEPTH).for_each(|above| add(&ex, &format!("{} below={above}", above + 1)));
    let error = queue(&ex, &MAX_DEPTH.to_string()).new_queue("x").create().unwrap_err();
    assert!(error.is_nesting());
    assert_eq!(error.to_string(), "at most 8 queues may be above a queue, not 9");
    assert!(ex.queue("x").is_none());
}

#[test]
fn neither_a_closed_queue_nor_a_stopped_executor_has_new_children() {
    let ex = scene("other");
    let (parent, other) = (ex.new_queue("parent").create().unwrap(), queue(&ex, "other"));
    drop(parent.spawn(pending::<()>()));
    parent.close();
    let error = parent.new_queue("x").create().unwrap_err();
    assert!(error.is_closed() && !error.is_nesting());
    assert_eq!(error.to_string(), "the parent \"parent\" is closed");
    assert_eq!(parent.abort_all(), 1);
    drain(&ex);
    assert!(ex.queue("parent").is_none());
    assert!(parent.new_queue("x").create().unwrap_err().is_closed(), "gone");
    drop(ex);
    assert!(parent.new_queue("x").create().is_err());
    assert!(other.new_queue("x").create().unwrap_err().is_stopped());
    assert!(other.children().is_empty() && other.parent().is_none());
}

/// Closing a queue closes its branch; each goes with the last of its tasks and children.
#[test]
fn a_branch_is_closed_as_one() {
    let ex = scene(
        "parent
        child below=parent
        grandchild below=child
        grandchild g: 10*3
        parent p: 10",
    );
    let branch = ["parent", "child", "grandchild"].map(|name| queue(&ex, name));
    let [parent, _, grandchild] = &branch;
    parent.close();
    assert!(branch.iter().all(Queue::is_closed));
    assert!(grandchild.spawn(async {}).abort_handle().is_finished(), "refused");
    assert_eq!(ex.stats().queues.len(), 4, "the grandchild has a task, so all above it stay");
    assert_eq!(drain(&ex).split(' ').count(), 4);
    assert_eq!(ex.stats().queues.len(), 1);
    assert_eq!(grandchild.parent().unwrap().name(), "child", "also once it is gone");
    assert_eq!(parent.stats().branch_busy, us(40));
    // The places are any queue's.
    add(&ex, PARENT_AND_CHILD);
    add(&ex, "child c: 10");
    assert_eq!((drain(&ex).as_str(), parent.children().len()), ("c1", 0));
}

#[test]
fn a_parent_goes_with_its_last_child_although_that_closed_first() {
    let ex = scene(PARENT_AND_CHILD);
    add(&ex, "child -: 0");
    queue(&ex, "child").close();
    queue(&ex, "parent").close();
    assert_eq!(ex.stats().queues.len(), 3);
    drain(&ex);
    assert_eq!(ex.stats().queues.len(), 1);
}

// ---- Who goes first

/// A parent that works gets its first child in the middle of a slice, and shares with it from then on.
#[test]
fn a_task_makes_a_child_of_its_own_queue() {
    let ex = scene("parent request=20");
    let parent = queue(&ex, "parent");
    let last = queue(&ex, "parent").spawn(async move {
        for poll in 1..=6 {
            note(format!("p{poll}"));
            work(us(10));
            if poll == 1 {
                let child = parent.new_queue("child").request(us(20)).create().unwrap();
                child.spawn(polls("c", 4, us(10)));
            }
            yield_now().await;
        }
    });
    run(&ex, last).unwrap();
    assert_eq!(trace(), "p1 p2 c1 c2 p3 p4 c3 c4 p5 p6");
    assert_eq!(ex.stats().busy, us(100));
}

/// Two queues of one branch contend, although at the top there is one: slices end on time.
#[test]
fn siblings_contend_where_their_parent_is_alone() {
    let ex = scene(
        "parent
        a below=parent request=20
        b below=parent request=20
        a a: 10*4
        b b: 10*4",
    );
    assert_eq!(drain(&ex), "a1 a2 b1 b2 a3 a4 b3 b4");
    let slices: Vec<_> = ex.stats().queues.iter().map(|queue| queue.slices).collect();
    assert_eq!(slices, [0, 0, 2, 2]);
}

/// The parent's request bounds the slices of its branch beside others.
#[test]
fn a_slice_ends_with_the_request_of_a_parent() {
    let ex = scene(
        "parent request=20
        child below=parent request=1000
        beside request=20
        child c: 10*4
        beside b: 10*4",
    );
    assert_eq!(drain(&ex), "c1 c2 b1 b2 c3 c4 b3 b4");
}

/// Who wakes is compared with who runs where their ways part: in the branch, or at the top.
#[test]
fn a_nested_queue_preempts_where_the_ways_part() {
    for (parents_request, order) in [(10, "b1 u1 b2 c1 v1 c2"), (5_000, "b1 b2 u1 c1 v1 c2")] {
        let ex = scene(&format!("parent request={parents_request}\n beside"));
        add(&ex, "urgent below=parent request=5\n child below=parent");
        add(&ex, "later urgent u: 2\n beside b: spawn(u)+10 10 0");
        let first = drain(&ex);
        add(&ex, "later urgent v: 2\n child c: spawn(v)+10 10 0");
        let both = format!("{first} {}", drain(&ex));
        assert_eq!(both.replace(" b3", "").replace(" c3", ""), order);
    }
}

#[test]
fn an_idle_queue_waits_for_all_branches() {
    let ex = scene(
        "idle idle
        parent
        child below=parent
        idle i: 10*2
        child c: 10*2",
    );
    assert_eq!(drain(&ex), "c1 c2 i1 i2");
    // And goes back for one at once.
    add(&ex, "later child c: 10*2\n idle i: spawn(c)+10 10*2");
    assert_eq!(drain(&ex), "i1 c1 c2 i2 i3");
}

// ---- What is special

/// A nested queue's aborted futures are dropped soon, on its account, and its parent's.
#[test]
fn aborted_futures_are_dropped_soon() {
    let (ex, dropped) = (scene(PARENT_AND_CHILD), Rc::new(Cell::new(None)));
    let noted = Rc::clone(&dropped);
    let victim = queue(&ex, "child").spawn(hold(OnDrop::new(move || {
        work(us(3));
        noted.set(Some(now()));
    })));
    drain(&ex);
    add(&ex, "sibling below=parent\n sibling -: 10*\n default -: 10*");
    run(&ex, sleep_until(us(2_000)));
    victim.abort();
    assert!(run(&ex, victim).unwrap_err().is_cancelled());
    assert_eq!(dropped.get(), Some(us(2_003)), "at once, as neither it nor its parent owes anything");
    assert_eq!(busy(&ex, "child"), us(3));
}

/// A cap holds below a parent; its siblings have what it leaves.
#[test]
fn a_nested_queue_may_be_capped() {
    let ex = scene(
        "parent
        beside
        capped below=parent cap=10/100
        free below=parent
        capped -: 10*
        free -: 10*
        beside -: 10*",
    );
    let parts = || ["capped", "free", "beside"].map(|name| ex.queue(name).map_or(us(0), |q| q.stats().busy));
    run(&ex, sleep_until(2 * SECOND));
    let before = parts();
    for (got, due) in before.into_iter().zip([1, 4, 5]) {
        assert!(got.abs_diff(due * SECOND / 5) <= us(2_000), "{got:?} of {due} times 200 ms");
    }
    // Alone in its branch it is throttled with it.
    let free = queue(&ex, "free");
    free.close();
    free.abort_all();
    run(&ex, sleep_until(4 * SECOND));
    let after = parts();
    let (capped, beside) = (after[0] - before[0], after[2] - before[2]);
    assert!(capped.abs_diff(SECOND / 5) <= us(2_000), "{capped:?}");
    assert!(beside.abs_diff(9 * SECOND / 5) <= us(2_000), "{beside:?}");
}

/// A nested queue is a queue as any other: with its own order inside, groups and limits.
#[test]
fn a_nested_queue_has_its_policy_and_its_limits() {
    let ex = scene("parent");
    let parent = queue(&ex, "parent");
    let child = parent.new_queue("child").scheduler(Las::new()).max_live(1).create().unwrap();
    let first = child.group(1).spawn(compute(us(5)));
    assert!(child.try_spawn(async {}).unwrap_err().is_full());
    run(&ex, sleep(us(100)));
    first.abort();
    let waited = child.spawn_when_room(async { Queue::current().unwrap().name() });
    let name = run(&ex, async { waited.await.unwrap().await.unwrap() });
    assert_eq!((name.as_str(), child.stats().polls), ("child", 21));
}

// ---- What each gets where all have work: the product of its shares

/// Has these queues work without end: each gets its part of what all of them get, to a thousandth.
#[track_caller]
fn saturate(ex: &Executor, parts: &[(String, u32)]) {
    for (name, _) in parts {
        // What is off is a request and a poll at most.
        let way = std::iter::successors(Some(queue(ex, name)), Queue::parent);
        way.for_each(|queue| queue.set_request(us(5)).unwrap());
        add(ex, &format!("{name} -: 5*\n {name} -: 10*"));
    }
    run(ex, sleep_until(4 * SECOND));
    assert_eq!(ex.stats().busy, now(), "every nanosecond is billed once");
    let sum: u32 = parts.iter().map(|(_, part)| part).sum();
    for (name, part) in parts {
        let (got, due) = (busy(ex, name), now() * *part / sum);
        // A small part is off by a few turns.
        assert!(got.abs_diff(due) <= (due / 1_000).max(us(50)), "{name}: {got:?} of {due:?}");
    }
}

#[test]
fn shares_multiply_on_the_way_up() {
    let middle = "tenants share=3\n beside share=3\n middle below=tenants share=7\n";
    // Below `middle`, which is as large as `beside`.
    for shares in [&[9, 1][..], &[99, 1], &[1, 1, 1, 1]] {
        let leaf = |(n, share): (usize, &u32)| format!("{n} below=middle share={share}\n");
        let ex = scene(&(middle.to_owned() + &shares.iter().enumerate().map(leaf).collect::<String>()));
        let mut parts: Vec<_> = shares.iter().enumerate().map(|(n, &share)| (n.to_string(), share)).collect();
        parts.push(("beside".to_owned(), shares.iter().sum()));
        saturate(&ex, &parts);
        let [tenants, middle] = ["tenants", "middle"].map(|name| queue(&ex, name).stats().branch_busy);
        assert_eq!((tenants + busy(&ex, "beside"), middle), (now(), tenants));
    }
    // A parent's own tasks are one child more, of share 1, whatever the parent's share.
    let ex = scene("parent share=4\n beside\n a below=parent\n b below=parent share=2");
    saturate(
        &ex,
        &[("parent", 4), ("a", 4), ("b", 8), ("beside", 4)].map(|(name, part)| (name.to_owned(), part)),
    );
}

#[test]
fn adding_and_closing_a_tenant_changes_no_other_branch() {
    let ex = scene(
        "tenants
        other
        stays below=tenants
        x below=other
        y below=other share=3
        stays -: 10*
        x -: 10*
        y -: 10*",
    );
    let [tenants, other] = ["tenants", "other"].map(|name| queue(&ex, name));
    for number in 0..200 {
        let guest = tenants.new_queue("guest").share(1 + number % 50).create().unwrap();
        let task = guest.spawn(compute(us(10)));
        run(&ex, sleep(us(10_000)));
        task.abort();
        assert!(run(&ex, task).unwrap_err().is_cancelled());
        guest.close();
    }
    // 2 s: half each, whichever guests came and went; a request and a poll at either end.
    let (half, got) = (now() / 2, other.stats().branch_busy);
    assert!(got.abs_diff(half) <= us(1_020), "{got:?} of {half:?}");
    assert!(busy(&ex, "y").abs_diff(half * 3 / 4) <= us(2_000), "{:?}", busy(&ex, "y"));
    assert_eq!(tenants.children().len(), 1);
    assert_eq!(got + tenants.stats().branch_busy, now(), "guests that are gone are counted");
}

#[test]
fn a_change_of_share_counts_in_its_branch_also_in_the_middle_of_a_slice() {
    let ex = scene(
        "tenants
        beside
        a below=tenants
        b below=tenants
        a -: 10*
        b -: 10*
        beside -: 10*",
    );
    let a = queue(&ex, "a");
    queue(&ex, "a").spawn(async move {
        sleep_until(SECOND).await;
        work(us(3));
        a.set_share(9).unwrap();
        a.set_request(us(100)).unwrap();
        work(us(3));
    });
    let parts = || ["a", "b", "beside"].map(|name| busy(&ex, name));
    run(&ex, sleep_until(SECOND));
    let before = parts();
    run(&ex, sleep_until(3 * SECOND));
    for ((had, has), due) in before.into_iter().zip(parts()).zip([900_000, 100_000, 1_000_000]) {
        assert!((has - had).abs_diff(us(due)) <= us(2_000), "{:?} of {due} µs", has - had);
    }
}

/// Eight queues above one: the whole way up is charged, and shares multiply.
#[test]
fn as_deep_as_can_be() {
    let ex = scene("0\n beside0");
    for above in 0..MAX_DEPTH {
        add(&ex, &format!("{0} below={above}\n beside{0} below={above}", above + 1));
    }
    let beside = (0..=MAX_DEPTH).map(|depth| (format!("beside{depth}"), 1 << (8 - depth)));
    saturate(&ex, &beside.chain([(MAX_DEPTH.to_string(), 1)]).collect::<Vec<_>>());
    assert_eq!(queue(&ex, "0").stats().branch_busy + busy(&ex, "beside0"), now());
}
