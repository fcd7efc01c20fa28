//! Single calls, wrong ones included.

use clockworker_schedulers::{Eevdf, QueueId, Share};

use super::super::tree::{Claim, Tree};

/// Queues side by side.
fn queues<const N: usize>() -> (Tree, [QueueId; N]) {
    let mut tree = Tree::default();
    let ids = [(); N].map(|()| tree.add(None, Claim { share: 1, request: 1_000, poll: 1 }));
    (tree, ids)
}

#[test]
fn without_branches_it_is_the_root() {
    let (mut tree, [a, b]) = queues();
    assert_eq!(tree.pick(), None);
    tree.wake(a);
    tree.wake(b);
    assert_eq!((tree.pick(), tree.root.pick()), (Some(a), Some(a)));
    tree.charge(a, 600);
    assert_eq!((tree.pick(), tree.left_ns(a)), (Some(b), 400));
    tree.sleep(b);
    assert_eq!(tree.pick(), Some(a));
    tree.branches.remove(&mut tree.root, a);
    assert!(tree.root.is_runnable(a), "it was not the branches'");
    assert!(!tree.branches.is_nested(a) && !tree.branches.are_contended());
}

#[test]
fn wrong_calls_are_ignored() {
    let (mut tree, [a, b, c]) = queues();
    tree.nest(a, a);
    assert!(!tree.branches.is_nested(a), "no queue is its own child");
    tree.nest(a, b);
    tree.nest(b, a);
    tree.nest(c, b);
    tree.nest(b, c);
    assert_eq!(
        [a, b, c].map(|id| tree.branches.parent(id)),
        [None, Some(a), Some(b)],
        "no cycle, no second parent"
    );
    assert_eq!([a, b, c].map(|id| tree.branches.depth(id)), [0, 1, 2]);
    tree.branches.remove(&mut tree.root, b);
    assert_eq!(tree.branches.parent(b), Some(a), "it has a child");
    tree.wake(c);
    tree.wake(c);
    assert_eq!((tree.pick(), tree.root.runnable()), (Some(c), 1));
    for _ in 0..2 {
        tree.sleep(c);
        assert_eq!((tree.pick(), tree.root.runnable()), (None, 0));
    }
    // What the root does not know.
    let unknown = Eevdf::clone(&tree.root).add(Share::default(), 1);
    tree.nest(a, unknown);
    tree.nest(unknown, a);
    tree.wake(unknown);
    tree.charge(unknown, 5);
    tree.branches.remove(&mut tree.root, unknown);
    assert_eq!((tree.pick(), tree.left_ns(unknown)), (None, 0));
    assert_eq!(tree.branches.children(a), 1);
}

#[test]
fn a_parents_work_goes_on_beside_its_first_child() {
    let (mut tree, [parent, child]) = queues();
    tree.wake(parent);
    tree.nest(parent, child);
    assert_eq!((tree.pick(), tree.branches.are_contended()), (Some(parent), false));
    tree.wake(child);
    assert!(tree.branches.are_contended());
    let mut served = [0, 0];
    for _ in 0..100 {
        let queue = tree.pick().unwrap();
        tree.charge(queue, 1_000);
        served[queue.index()] += 1;
    }
    assert_eq!(served, [50, 50], "its own tasks are one child more");
    tree.branches.remove(&mut tree.root, child);
    assert_eq!((tree.pick(), tree.branches.are_contended()), (Some(parent), false));
}

/// A queue that wakes is compared with the running one where their ways to the root part.
#[test]
fn preemption_is_decided_where_the_ways_part() {
    let (mut tree, [parent, other, long, urgent]) = queues();
    tree.root.set_request(long, 10_000);
    tree.root.set_request(urgent, 10);
    tree.nest(parent, long);
    tree.nest(parent, urgent);
    tree.branches.set_request(&mut tree.root, parent, 5_000);
    tree.wake(long);
    tree.wake(other);
    tree.charge(other, 100);
    tree.wake(urgent);
    assert!(tree.preempts(urgent, long), "its request is shorter");
    assert!(!tree.preempts(long, urgent) && !tree.preempts(urgent, urgent));
    assert!(!tree.preempts(urgent, other), "their parent has a long request: {:?}", tree.root);
    assert!(!tree.preempts(other, urgent), "it has had something");
    tree.branches.hasten(&mut tree.root, urgent);
    assert!(tree.preempts(urgent, other), "it is to be served soon");
    tree.charge(urgent, 10_000);
    assert!(tree.preempts(other, urgent), "all above it are charged");
    // Asleep, or the parent's own tasks, which have no work.
    assert!(!tree.preempts(parent, other) && !tree.preempts(other, parent));
}

#[test]
fn the_grant_is_the_least_that_is_left_on_the_way_up() {
    let (mut tree, [parent, child]) = queues();
    tree.root.set_request(child, 700);
    tree.nest(parent, child);
    tree.wake(child);
    let left = |tree: &Tree| tree.left_ns(child);
    assert_eq!(left(&tree), 700, "the child's");
    tree.charge(child, 500);
    assert_eq!(left(&tree), 200);
    tree.charge(child, 200);
    assert_eq!(left(&tree), 300, "the parent's");
}
