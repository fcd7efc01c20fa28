//! Single calls, wrong ones included.

use clockworker_schedulers::{Branches, Eevdf, QueueId, Share};

struct World {
    root: Eevdf,
    branches: Branches,
}

impl World {
    fn queues<const N: usize>() -> (Self, [QueueId; N]) {
        let mut root = Eevdf::new();
        let ids = [(); N].map(|()| root.add(Share::default(), 1_000));
        (Self { root, branches: Branches::new() }, ids)
    }

    fn nest(&mut self, parent: QueueId, child: QueueId) {
        self.branches.add(&mut self.root, parent, child);
    }

    fn wake(&mut self, queue: QueueId) {
        self.branches.wake(&mut self.root, queue);
    }

    fn pick(&mut self) -> Option<QueueId> {
        self.branches.pick(&mut self.root)
    }

    fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        self.branches.preempts(&self.root, woken, running)
    }
}

#[test]
fn without_branches_it_is_the_root() {
    let (mut world, [a, b]) = World::queues();
    assert_eq!(world.pick(), None);
    world.wake(a);
    world.wake(b);
    assert_eq!((world.pick(), world.root.pick()), (Some(a), Some(a)));
    world.branches.charge(&mut world.root, a, 600);
    assert_eq!((world.pick(), world.branches.left_ns(&world.root, a)), (Some(b), 400));
    world.branches.sleep(&mut world.root, b);
    assert_eq!(world.pick(), Some(a));
    world.branches.remove(&mut world.root, a);
    assert!(world.root.is_runnable(a), "it was not the branches'");
    assert!(!world.branches.is_nested(a) && !world.branches.are_contended());
}

#[test]
fn wrong_calls_are_ignored() {
    let (mut world, [a, b, c]) = World::queues();
    world.nest(a, a);
    assert!(!world.branches.is_nested(a), "no queue is its own child");
    world.nest(a, b);
    world.nest(b, a);
    world.nest(c, b);
    world.nest(b, c);
    assert_eq!(
        [a, b, c].map(|id| world.branches.parent(id)),
        [None, Some(a), Some(b)],
        "no cycle, no second parent"
    );
    assert_eq!([a, b, c].map(|id| world.branches.depth(id)), [0, 1, 2]);
    world.branches.remove(&mut world.root, b);
    assert_eq!(world.branches.parent(b), Some(a), "it has a child");
    world.wake(c);
    world.wake(c);
    assert_eq!((world.pick(), world.root.runnable()), (Some(c), 1));
    for _ in 0..2 {
        world.branches.sleep(&mut world.root, c);
        assert_eq!((world.pick(), world.root.runnable()), (None, 0));
    }
    // What the root does not know.
    let unknown = Eevdf::clone(&world.root).add(Share::default(), 1);
    world.nest(a, unknown);
    world.nest(unknown, a);
    world.wake(unknown);
    world.branches.charge(&mut world.root, unknown, 5);
    world.branches.remove(&mut world.root, unknown);
    assert_eq!((world.pick(), world.branches.left_ns(&world.root, unknown)), (None, 0));
    assert_eq!(world.branches.children(a), 1);
}

#[test]
fn a_parents_work_goes_on_beside_its_first_child() {
    let (mut world, [parent, child]) = World::queues();
    world.wake(parent);
    world.nest(parent, child);
    assert_eq!((world.pick(), world.branches.are_contended()), (Some(parent), false));
    world.wake(child);
    assert!(world.branches.are_contended());
    let mut served = [0, 0];
    for _ in 0..100 {
        let queue = world.pick().unwrap();
        world.branches.charge(&mut world.root, queue, 1_000);
        served[queue.index()] += 1;
    }
    assert_eq!(served, [50, 50], "its own tasks are one child more");
    world.branches.remove(&mut world.root, child);
    assert_eq!((world.pick(), world.branches.are_contended()), (Some(parent), false));
}

/// A queue that wakes is compared with the running one where their ways to the root part.
#[test]
fn preemption_is_decided_where_the_ways_part() {
    let (mut world, [parent, other, long, urgent]) = World::queues();
    world.root.set_request(long, 10_000);
    world.root.set_request(urgent, 10);
    world.nest(parent, long);
    world.nest(parent, urgent);
    world.branches.set_request(&mut world.root, parent, 5_000);
    world.wake(long);
    world.wake(other);
    world.branches.charge(&mut world.root, other, 100);
    world.wake(urgent);
    assert!(world.preempts(urgent, long), "its request is shorter");
    assert!(!world.preempts(long, urgent) && !world.preempts(urgent, urgent));
    assert!(!world.preempts(urgent, other), "their parent has a long request: {:?}", world.root);
    assert!(!world.preempts(other, urgent), "it has had something");
    world.branches.hasten(&mut world.root, urgent);
    assert!(world.preempts(urgent, other), "it is to be served soon");
    world.branches.charge(&mut world.root, urgent, 10_000);
    assert!(world.preempts(other, urgent), "all above it are charged");
    // Asleep, or the parent's own tasks, which have no work.
    assert!(!world.preempts(parent, other) && !world.preempts(other, parent));
}

#[test]
fn the_grant_is_the_least_that_is_left_on_the_way_up() {
    let (mut world, [parent, child]) = World::queues();
    world.root.set_request(child, 700);
    world.nest(parent, child);
    world.wake(child);
    let left = |world: &World| world.branches.left_ns(&world.root, child);
    assert_eq!(left(&world), 700, "the child's");
    world.branches.charge(&mut world.root, child, 500);
    assert_eq!(left(&world), 200);
    world.branches.charge(&mut world.root, child, 200);
    assert_eq!(left(&world), 300, "the parent's");
}
