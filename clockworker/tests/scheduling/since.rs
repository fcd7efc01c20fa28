//! What happened between two looks at the counters.

use std::future::pending;

use clockworker::{ExecutorStats, QueueStats};

use crate::support::*;

fn find<'a>(stats: &'a ExecutorStats, name: &str) -> Option<&'a QueueStats> {
    stats.queues.iter().find(|queue| queue.name == name)
}

#[test]
fn counts_are_differences_and_states_are_as_now() {
    let ex = scene("default -: 10");
    ex.spawn(pending::<()>());
    drain(&ex);
    let before = ex.stats();
    add(&ex, "default -: 7");
    drain(&ex);
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
fn nothing_since_the_same_moment_nor_since_a_later_one() {
    let ex = world();
    let earlier = ex.stats();
    add(&ex, "default -: 10");
    drain(&ex);
    for since in [ex.stats().since(&ex.stats()), earlier.since(&ex.stats())] {
        assert_eq!((since.polls, since.busy, since.slices, since.host_polls), (0, us(0), 0, 0));
        assert_eq!((since.queues[0].polls, since.queues[0].busy), (0, us(0)));
    }
}

#[test]
fn a_queue_is_the_same_under_another_name_and_not_under_its_predecessors() {
    let ex = scene("old\n tenant\n old -: 10\n tenant -: 20");
    drain(&ex);
    let before = ex.stats();
    ex.queue("old").unwrap().rename("new").unwrap();
    ex.queue("tenant").unwrap().close();
    drain(&ex);
    add(&ex, "tenant\n new -: 1\n tenant -: 2");
    drain(&ex);
    let since = ex.stats().since(&before);
    let busy = |name| find(&since, name).map(|queue| queue.busy);
    assert_eq!((busy("new"), busy("tenant"), busy("old")), (Some(us(1)), Some(us(2)), None));
    // The sums include what is gone.
    assert_eq!(since.busy, us(3));
    let [first, second] = [&before, &since].map(|stats| find(stats, "tenant").unwrap());
    assert!(first.number < second.number);
    assert_eq!(&second.since(first), second);
}
