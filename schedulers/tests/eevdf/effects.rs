//! What a change of the tree asks of the one who runs slices: every change, outside a slice, in the queue's own, in another's.

use std::time::Duration;

use clockworker_schedulers::{Cap, Effect, Grant, Left, QueueId, QueueTree};

use super::bench::{MS, US, share};

const NO_LIMIT: Effect = Effect::Until { until: u64::MAX, exact: false };

fn until(until: u64) -> Effect {
    Effect::Until { until, exact: false }
}

fn exact_until(until: u64) -> Effect {
    Effect::Until { until, exact: true }
}

/// A tree of sleeping queues of share 1, which ask for 1 ms.
fn queues<const N: usize>() -> (QueueTree, [QueueId; N]) {
    let mut tree = QueueTree::new();
    let ids = [(); N].map(|()| tree.add(share(1), MS));
    (tree, ids)
}

fn cap(quota_us: u64, period_us: u64) -> Option<Cap> {
    Cap::new(Duration::from_micros(quota_us), Duration::from_micros(period_us)).ok()
}

/// Begins the slice of a queue that wakes up alone.
fn run(tree: &mut QueueTree, queue: QueueId, now: u64) -> Grant {
    assert_eq!(tree.wake(queue, now), Effect::Turn);
    let grant = tree.pick(now).unwrap();
    assert_eq!((grant.queue, tree.running()), (queue, Some(queue)));
    grant
}

/// Ends the slice of a queue that has had so much.
fn end(tree: &mut QueueTree, queue: QueueId, service: u64, left: Left, now: u64) {
    tree.charge(queue, service, now);
    tree.end_slice(queue, left, now);
}

/// Uses up a queue's cap of 100 µs, from 0 on. It has work.
fn throttle(tree: &mut QueueTree, queue: QueueId, period_us: u64) {
    assert_eq!(tree.set_cap(queue, cap(100, period_us), 0), Effect::None, "it sleeps");
    run(tree, queue, 0);
    end(tree, queue, 100 * US, Left::Tasks, 100 * US);
    assert!(tree.is_throttled(queue));
}

#[test]
fn a_wake_outside_a_slice_asks_for_a_turn() {
    let (mut tree, [a, b]) = queues();
    assert_eq!(tree.wake(a, 0), Effect::Turn);
    assert_eq!(tree.wake(b, 0), Effect::Turn);
    assert!(tree.has_work(0));
}

#[test]
fn a_wake_in_anothers_slice_limits_or_preempts_it() {
    let (mut tree, [running, equal, urgent]) = queues();
    let _ = tree.set_share(urgent, share(1), 100 * US, 0);
    assert_eq!(run(&mut tree, running, 0).until, u64::MAX, "it is alone");
    tree.charge(running, 400 * US, 400 * US);
    // It had been alone, and goes on to the end of its request.
    assert_eq!(tree.wake(equal, 400 * US), until(MS));
    assert_eq!(tree.wake(urgent, 400 * US), Effect::Preempt);
    assert!(tree.are_others_waiting(MS));
}

#[test]
fn idle_queues_wait_for_all_others_and_are_preempted_by_all() {
    let (mut tree, [plain, idle, other]) = queues();
    tree.make_idle(idle);
    tree.make_idle(other);
    run(&mut tree, plain, 0);
    assert_eq!(tree.wake(idle, 0), NO_LIMIT);
    assert!(!tree.are_others_waiting(u64::MAX));
    end(&mut tree, plain, US, Left::Nothing, US);
    let grant = tree.pick(US).unwrap();
    assert_eq!((grant.queue, grant.exact, grant.drops_only), (idle, true, false));
    assert_eq!(tree.wake(other, US), exact_until(MS + US), "one of its kind");
    assert_eq!(tree.wake(plain, US), Effect::Preempt);
}

#[test]
fn futures_to_drop_come_soon() {
    // Outside a slice; in the queue's own; in another's.
    let (mut tree, [a, b]) = queues();
    assert_eq!(tree.wake(a, 0), Effect::Turn);
    assert_eq!(tree.hasten(a, 0), Effect::Turn);
    tree.pick(0).unwrap();
    assert_eq!(tree.hasten(a, 0), Effect::Preempt);
    assert_eq!(tree.wake(b, 0), until(1), "what is left of a request that was cut short");
    assert_eq!(tree.hasten(b, 0), until(1), "no sooner than the other, which drops as well");
    end(&mut tree, a, 1, Left::Tasks, 1);
    assert_eq!(tree.pick(1).unwrap().queue, b);
}

#[test]
fn idle_and_throttled_queues_drop_among_the_others() {
    let (mut tree, [plain, idle, capped]) = queues();
    tree.make_idle(idle);
    throttle(&mut tree, capped, 10_000);
    run(&mut tree, plain, 100 * US);
    for queue in [idle, capped] {
        let _ = tree.wake(queue, 100 * US);
        tree.charge(plain, US, 100 * US);
        assert_eq!(tree.hasten(queue, 100 * US), Effect::Preempt);
        end(&mut tree, plain, 0, Left::Tasks, 100 * US);
        let grant = tree.pick(100 * US).unwrap();
        assert_eq!((grant.queue, grant.drops_only), (queue, true));
        end(&mut tree, queue, US, Left::Tasks, 101 * US);
        assert_eq!(tree.is_throttled(queue), queue == capped, "it is where it was");
        assert_eq!(tree.pick(101 * US).unwrap().queue, plain);
    }
}

/// One that sleeps when its tasks are aborted is never throttled meanwhile, though its cap is used up.
#[test]
fn a_queue_wakes_to_drop() {
    let (mut tree, [plain, capped]) = queues();
    let _ = tree.set_cap(capped, cap(100, 10_000), 0);
    run(&mut tree, capped, 0);
    end(&mut tree, capped, 100 * US, Left::Nothing, 100 * US);
    for queue in [plain, capped] {
        assert_eq!(tree.hasten(queue, 100 * US), Effect::Turn);
        let grant = tree.pick(100 * US).unwrap();
        assert_eq!((grant.queue, grant.drops_only), (queue, queue == capped));
        end(&mut tree, queue, US, Left::Nothing, 101 * US);
    }
    assert_eq!(tree.cap_counts(capped, 101 * US).throttled_periods, 0);
}

/// No id of a queue that is gone reaches the one in its place.
#[test]
fn ids_of_removed_queues_name_nothing() {
    let (mut tree, [plain, old]) = queues();
    tree.make_idle(old);
    assert_eq!(tree.remove(old, 0), Effect::None);
    let new = tree.add(share(1), MS);
    tree.make_idle(new);
    throttle(&mut tree, new, 1_000);
    tree.end_slice(old, Left::Tasks, 100 * US);
    assert_eq!(tree.set_cap(old, None, 100 * US), Effect::None);
    let _ = tree.set_share(old, share(7), 7, 100 * US);
    tree.sleep(old, 100 * US);
    assert_eq!(tree.nest(plain, plain, 0), Effect::None);
    assert_eq!((tree.has_work_in(old), tree.is_throttled(old), tree.is_throttled(new)), (false, false, true));
    assert_eq!((tree.request_ns(new), tree.pick(MS).unwrap().queue), (MS, new));
    tree.charge(new, u64::MAX, u64::MAX);
}

#[test]
fn a_cap_counts_at_once() {
    let (mut tree, [capped, other]) = queues();
    // In the queue's own slice: it ends when the cap is used up, and is timed from now on.
    run(&mut tree, capped, 0);
    tree.charge(capped, 40 * US, 40 * US);
    assert_eq!(tree.set_cap(capped, cap(100, 1_000), 40 * US), exact_until(140 * US));
    assert_eq!(tree.set_cap(capped, None, 40 * US), NO_LIMIT);
    assert_eq!(tree.set_cap(capped, cap(100, 1_000), 40 * US), exact_until(140 * US));
    end(&mut tree, capped, 100 * US, Left::Tasks, 140 * US);
    assert_eq!((tree.is_throttled(capped), tree.next_release()), (true, 1_040 * US));
    assert_eq!((tree.has_work(140 * US), tree.pick(140 * US)), (false, None));
    // In another's: that is to end as the throttled one goes on.
    let grant = run(&mut tree, other, 140 * US);
    assert_eq!((grant.until, grant.exact), (1_040 * US, true));
    assert!(!tree.are_others_waiting(grant.until));
    // A larger one: it goes on after the other's request.
    tree.charge(other, 60 * US, 200 * US);
    assert_eq!(tree.set_cap(capped, cap(300, 1_000), 200 * US), until(1_140 * US));
    assert_eq!(tree.next_release(), u64::MAX);
}

#[test]
fn a_cap_that_is_lifted_outside_a_slice_asks_for_a_turn() {
    let (mut tree, [capped]) = queues();
    throttle(&mut tree, capped, 1_000);
    assert_eq!(tree.set_cap(capped, None, 200 * US), Effect::Turn);
    assert_eq!(tree.pick(200 * US).map(|grant| grant.queue), Some(capped));
}

#[test]
fn a_released_queue_has_work() {
    let (mut tree, [capped]) = queues();
    throttle(&mut tree, capped, 1_000);
    assert!(!tree.has_work(MS - 1) && tree.has_work(MS));
    assert_eq!(tree.pick(MS).map(|grant| (grant.queue, grant.until)), Some((capped, MS + 100 * US)));
}

#[test]
fn shares_children_and_ends_of_others_move_the_end_of_a_slice() {
    let (mut tree, [running, other, child]) = queues();
    // Outside a slice none of it lets more run than before.
    assert_eq!(tree.set_share(other, share(2), 2 * MS, 0), Effect::None);
    assert_eq!(tree.nest(other, child, 0), Effect::None);
    run(&mut tree, running, 0);
    assert_eq!(tree.wake(other, 0), until(MS));
    tree.charge(running, 400 * US, 400 * US);
    assert_eq!(tree.set_share(running, share(1), 500 * US, 400 * US), until(900 * US));
    assert_eq!(tree.set_share(other, share(9), 100 * US, 400 * US), Effect::Preempt);
    tree.sleep(other, 400 * US);
    assert_eq!(tree.remove(child, 400 * US), NO_LIMIT);
    assert_eq!(tree.remove(running, 400 * US), Effect::None, "not in its slice");
    assert!(tree.is_known(running));
}

/// A parent's own tasks go on as its first child's sibling.
#[test]
fn a_first_child_is_born_in_its_parents_slice() {
    let (mut tree, [parent, child]) = queues();
    run(&mut tree, parent, 0);
    assert_eq!(tree.nest(parent, child, 0), NO_LIMIT);
    assert_eq!(tree.wake(child, 0), until(MS));
    end(&mut tree, parent, 10 * US, Left::Nothing, 10 * US);
    let grant = tree.pick(10 * US).unwrap();
    assert_eq!((grant.queue, grant.until), (child, u64::MAX));
    // Of the parent's request 10 µs are used up.
    assert_eq!(tree.wake(parent, 20 * US), until(MS + 10 * US));
}
