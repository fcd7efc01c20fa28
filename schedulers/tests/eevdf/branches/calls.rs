//! Single calls, wrong ones included.

use std::time::Duration;

use clockworker_schedulers::{Cap, Grant, QueueId, Share};

use super::super::tree::{Claim, Tree};

/// Queues side by side.
fn queues<const N: usize>() -> (Tree, [QueueId; N]) {
    let mut tree = Tree::default();
    let ids = [(); N].map(|()| tree.add(None, Claim { share: 1, request: 1_000, poll: 1 }));
    (tree, ids)
}

#[test]
fn without_branches_it_is_the_top() {
    let (mut tree, [a, b]) = queues();
    assert_eq!(tree.pick(), None);
    tree.wake(a);
    tree.wake(b);
    assert_eq!(tree.pick(), Some(a));
    tree.charge(a, 600);
    assert_eq!((tree.pick(), tree.left_ns(a)), (Some(b), 400));
    tree.sleep(b);
    assert_eq!(tree.pick(), Some(a));
    tree.remove(a);
    assert_eq!((tree.pick(), tree.tree.is_known(a)), (None, false));
}

#[test]
fn wrong_calls_are_ignored() {
    let (mut tree, [a, b, c]) = queues();
    tree.nest(a, a);
    assert!(!tree.tree.is_nested(a), "no queue is its own child");
    tree.nest(a, b);
    tree.nest(b, a);
    tree.nest(c, b);
    tree.nest(b, c);
    assert_eq!(
        [a, b, c].map(|id| tree.tree.parent(id)),
        [None, Some(a), Some(b)],
        "no cycle, no second parent"
    );
    assert_eq!([a, b, c].map(|id| tree.tree.depth(id)), [0, 1, 2]);
    tree.remove(b);
    assert_eq!(tree.tree.parent(b), Some(a), "it has a child");
    tree.wake(c);
    tree.wake(c);
    assert_eq!((tree.pick(), tree.tree.top().runnable()), (Some(c), 1));
    for _ in 0..2 {
        tree.sleep(c);
        assert_eq!((tree.pick(), tree.tree.top().runnable()), (None, 0));
    }
    // One that is not known, and one that is known no more, though another has its index.
    let unknown = tree.tree.clone().add(Share::default(), 1);
    let gone = tree.add(None, Claim { share: 1, request: 1_000, poll: 1 });
    tree.remove(gone);
    let other = tree.add(Some(a), Claim { share: 1, request: 1_000, poll: 1 });
    assert_eq!(other.index(), gone.index());
    for id in [unknown, gone] {
        tree.nest(a, id);
        tree.nest(id, a);
        tree.wake(id);
        tree.charge(id, 5);
        let _ = tree.tree.hasten(id, 0);
        let _ = tree.tree.set_cap(id, Cap::percent(1, Duration::from_millis(1)).ok(), 0);
        tree.tree.make_idle(id);
        tree.reshare(id, 7, 7);
        tree.sleep(id);
        tree.remove(id);
        assert_eq!((tree.pick(), tree.left_ns(id), tree.tree.share(id)), (None, 0, None));
        assert_eq!((tree.tree.cap(id), tree.tree.is_idle(id), tree.tree.parent(id)), (None, false, None));
    }
    assert_eq!((tree.tree.children(a), tree.tree.share(other)), (2, Some(Share::default())));
    // What cannot be both.
    tree.tree.make_idle(other);
    assert!(!tree.tree.is_idle(other), "it has a parent");
    let idle = tree.add(None, Claim { share: 1, request: 1_000, poll: 1 });
    tree.tree.make_idle(idle);
    tree.nest(idle, c);
    tree.nest(a, idle);
    assert_eq!((tree.tree.parent(c), tree.tree.parent(idle)), (Some(b), None));
    let _ = tree.tree.set_cap(a, Cap::percent(1, Duration::from_millis(1)).ok(), 0);
    assert_eq!(tree.tree.cap(a), None, "it has children");
}

#[test]
fn a_parents_work_goes_on_beside_its_first_child() {
    let (mut tree, [parent, child]) = queues();
    tree.wake(parent);
    tree.nest(parent, child);
    let alone = Some(Grant { queue: parent, until: u64::MAX, exact: false, drops_only: false });
    assert_eq!(tree.grant(), alone);
    tree.wake(child);
    assert!(tree.grant().unwrap().until < u64::MAX);
    let mut served = [0, 0];
    for _ in 0..100 {
        let queue = tree.pick().unwrap();
        tree.charge(queue, 1_000);
        served[queue.index()] += 1;
    }
    assert_eq!(served, [50, 50], "its own tasks are one child more");
    assert_eq!([parent, child].map(|id| tree.tree.below_ns(id)), [50_000, 0]);
    tree.remove(child);
    assert_eq!(tree.grant(), alone);
}

/// A queue that wakes is compared with the running one where their ways to the top part.
#[test]
fn preemption_is_decided_where_the_ways_part() {
    let (mut tree, [parent, other, long, urgent]) = queues();
    tree.reshare(long, 1, 10_000);
    tree.reshare(urgent, 1, 10);
    tree.nest(parent, long);
    tree.nest(parent, urgent);
    tree.reshare(parent, 1, 5_000);
    tree.wake(long);
    tree.wake(other);
    tree.charge(other, 100);
    tree.wake(urgent);
    assert!(tree.preempts(urgent, long), "its request is shorter");
    assert!(!tree.preempts(long, urgent) && !tree.preempts(urgent, urgent));
    assert!(!tree.preempts(urgent, other), "their parent has a long request: {:?}", tree.tree);
    assert!(!tree.preempts(other, urgent), "it has had something");
    let _ = tree.tree.hasten(urgent, 0);
    assert!(tree.preempts(urgent, other), "it is to be served soon");
    tree.charge(urgent, 10_000);
    assert!(tree.preempts(other, urgent), "all above it are charged");
    // Asleep, or the parent's own tasks, which have no work.
    assert!(!tree.preempts(parent, other) && !tree.preempts(other, parent));
}

#[test]
fn the_grant_is_the_least_that_is_left_on_the_way_up() {
    let (mut tree, [parent, child]) = queues();
    tree.reshare(child, 1, 700);
    tree.nest(parent, child);
    tree.wake(child);
    let left = |tree: &Tree| tree.left_ns(child);
    assert_eq!(left(&tree), 700, "the child's");
    tree.charge(child, 500);
    assert_eq!(left(&tree), 200);
    tree.charge(child, 200);
    assert_eq!(left(&tree), 300, "the parent's");
}
