//! What happened between two looks at the counters.

use std::future::pending;

use clockworker::{Executor, QueueStats};

use crate::support::{VirtualTime, us};

fn work(sim: &VirtualTime, ex: &Executor, queue: &str, took: u64) {
    let (sim_, queue) = (sim.clone(), ex.queue(queue).unwrap());
    drop(queue.spawn(async move { sim_.work(us(took)) }));
    sim.drain(ex);
}

fn find<'a>(queues: &'a [QueueStats], name: &str) -> Option<&'a QueueStats> {
    queues.iter().find(|queue| queue.name == name)
}

#[test]
fn counts_are_differences_and_states_are_as_now() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    work(&sim, &ex, "default", 10);
    ex.spawn(pending::<()>());
    sim.drain(&ex);
    let before = ex.stats();
    work(&sim, &ex, "default", 7);
    ex.default_queue().set_share(5).unwrap();
    let now = ex.stats();
    let since = now.since(&before);
    assert_eq!((since.spawned, since.completed, since.polls, since.busy), (1, 1, 1, us(7)));
    assert_eq!((since.live, since.ready), (1, 0));
    assert_eq!(since.busy + since.main + since.own + since.host, us(7));
    let [queue] = &since.queues[..] else { panic!("one queue") };
    assert_eq!((queue.spawned, queue.completed, queue.polls, queue.busy), (1, 1, 1, us(7)));
    assert_eq!((queue.share, queue.live, queue.number), (5, 1, now.queues[0].number));
    assert_eq!(queue, &now.queues[0].since(&before.queues[0]));
}

#[test]
fn nothing_since_the_same_moment() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    work(&sim, &ex, "default", 10);
    let since = ex.stats().since(&ex.stats());
    assert_eq!((since.polls, since.busy, since.slices, since.host_polls), (0, us(0), 0, 0));
    assert_eq!((since.queues[0].polls, since.queues[0].busy), (0, us(0)));
}

#[test]
fn a_queue_is_the_same_under_another_name_and_not_under_its_predecessors() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let renamed = ex.new_queue("old name").create().unwrap();
    ex.new_queue("tenant").create().unwrap();
    work(&sim, &ex, "old name", 10);
    work(&sim, &ex, "tenant", 20);
    let before = ex.stats();
    renamed.rename("new name").unwrap();
    ex.queue("tenant").unwrap().close();
    sim.drain(&ex);
    ex.new_queue("tenant").create().unwrap();
    work(&sim, &ex, "new name", 1);
    work(&sim, &ex, "tenant", 2);
    let since = ex.stats().since(&before);
    let busy = |name| find(&since.queues, name).map(|queue| queue.busy);
    assert_eq!((busy("new name"), busy("tenant"), busy("old name")), (Some(us(1)), Some(us(2)), None));
    // The sums include what is gone.
    assert_eq!(since.busy, us(3));
    let [first, second] = [&before.queues, &since.queues].map(|queues| find(queues, "tenant").unwrap());
    assert!(first.number < second.number);
    assert_eq!(&second.since(first), second);
}

#[test]
fn a_later_look_than_this_gives_zeros() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let earlier = ex.stats();
    work(&sim, &ex, "default", 10);
    let wrong = earlier.since(&ex.stats());
    assert_eq!((wrong.polls, wrong.busy, wrong.queues[0].busy), (0, us(0), us(0)));
}
