//! Every counter, exact, on a manual clock.

use std::future::pending;
use std::time::Duration;

use clockworker::schedulers::Las;
use clockworker::{ExecutorStats, yield_now};

use crate::support::*;

#[test]
fn a_new_executor_has_done_nothing() {
    let stats = world().stats();
    let polled = [stats.polls, stats.slices, stats.overruns, stats.preemptions];
    let tasks = [stats.spawned, stats.completed, stats.cancelled, stats.panicked];
    assert_eq!((polled, tasks, stats.host_polls, stats.host_yields), ([0; 4], [0; 4], 0, 0));
    assert_eq!((stats.busy, stats.overrun_time, stats.ready, stats.live), (us(0), us(0), 0, 0));
    let [default] = &stats.queues[..] else { panic!("one queue") };
    assert_eq!((default.name.as_str(), default.share, default.request), ("default", 1, us(500)));
    assert_eq!(default.policy_fault, None);
}

#[test]
fn one_slice_of_one_queue() {
    let ex = scene("default -: 10*3\n default -: 7*2");
    drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.busy, stats.slices), (5, us(44), 1));
    assert_eq!((stats.overruns, stats.overrun_time, stats.preemptions), (0, us(0), 0));
    // The host polls once: nobody was woken from outside, and there is no budget to use up.
    assert_eq!((stats.host_polls, stats.host_yields), (1, 0));
    assert_eq!((stats.spawned, stats.completed, stats.live, stats.ready), (2, 2, 0, 0));
    let default = &stats.queues[0];
    assert_eq!((default.polls, default.busy, default.slices), (5, us(44), 1));
    assert_eq!((default.spawned, default.completed), (2, 2));
}

/// The future given to `run_until` belongs to no queue, so no queue pays for it, and no task.
#[test]
fn the_main_futures_time_is_nobodys() {
    let ex = world();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    run(&ex, async {
        las.spawn(polls("a", 2, us(10)));
        las.spawn(polls("b", 3, us(4)));
        work(us(1_000));
        yield_now().await;
        work(us(1_000));
    });
    // By what they had had: a 0, b 0, b 4, b 8, a 10. With a millisecond on a's account the order is the same; with one
    // on b's it is not, so see that neither had it.
    assert_eq!(drain(&ex), "a1 b1 b2 b3 a2");
    assert_eq!((ex.stats().busy, las.stats().busy), (us(20 + 12), us(20 + 12)));
}

#[test]
fn the_hosts_time_is_nobodys() {
    let ex = world();
    let task = ex.spawn(async {
        for _ in 0..5 {
            work(us(10));
            sleep(us(990)).await;
        }
    });
    run(&ex, task).unwrap();
    assert_eq!(now(), us(5_000));
    let stats = ex.stats();
    assert_eq!((stats.busy, stats.polls, stats.slices), (us(50), 6, 6));
    // Once to begin with, once per timer.
    assert_eq!((stats.host_polls, stats.host_yields), (6, 0));
}

#[test]
fn overruns_and_by_how_much() {
    let ex = scene("a request=100\n b request=100\n a -: 70*4\n b -: 70*4");
    drain(&ex);
    // Turns of 140 µs, 40 too long. The last of b's has no end, as nobody waits for it.
    for (name, overruns, overrun_time) in [("a", 2, us(80)), ("b", 1, us(40))] {
        let stats = queue(&ex, name).stats();
        assert_eq!((stats.polls, stats.busy, stats.slices), (4, us(280), 2));
        assert_eq!((stats.overruns, stats.overrun_time), (overruns, overrun_time));
    }
    let all = ex.stats();
    assert_eq!((all.overruns, all.overrun_time, all.slices, all.preemptions), (3, us(120), 4, 0));
    // Slices that end on time are no overruns.
    let ex = scene("a request=100\n b request=100\n a -: 10*20\n b -: 10*20");
    drain(&ex);
    let all = ex.stats();
    assert_eq!((all.slices, all.overruns, all.overrun_time), (4, 0, us(0)));
}

#[test]
fn preemptions_count_for_the_queue_that_was_interrupted() {
    let ex = scene("long\n small request=10\n later small s: 1\n long -: 20+spawn(s)*4 0");
    drain(&ex);
    let [long, small] = ["long", "small"].map(|name| queue(&ex, name).stats());
    assert_eq!((long.preemptions, small.preemptions), (4, 0));
    assert_eq!((long.slices, small.slices), (5, 4));
    assert_eq!((long.busy, small.busy), (us(80), us(4)));
    assert_eq!(ex.stats().preemptions, 4);
}

#[test]
fn the_host_gets_its_turn_after_its_budget_and_after_so_many_polls() {
    // After every second poll.
    let ex = builder().host_budget(us(200)).build().unwrap();
    ex.spawn(polls("", 10, us(100)));
    drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.slices, stats.host_yields, stats.host_polls), (10, 5, 4, 5));
    let ex = builder().poll_cap(4).build().unwrap();
    ex.spawn(polls("", 10, us(0)));
    drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.slices, stats.host_yields, stats.host_polls), (10, 3, 2, 3));
}

/// How often the host is visited where a task has these polls, in microseconds, and the host's budget is so much.
fn host_yields(budget: Duration, lengths: impl Iterator<Item = u64> + 'static) -> u64 {
    let ex = builder().host_budget(budget).build().unwrap();
    ex.spawn(async {
        for length in lengths {
            work(us(length));
            yield_now().await;
        }
    });
    drain(&ex);
    ex.stats().host_yields
}

/// Where the polls of a single queue are short the clock is not read after each, but the host waits no longer than 32
/// polls for that. And one short poll says nothing of the next: the clock is read after two long ones at the latest.
#[test]
fn a_host_budget_is_exact_to_32_polls_and_to_two_among_long_ones() {
    // A thousand polls of no time, then sudden long ones.
    let yields = host_yields(us(200), [0; 1_000].into_iter().chain([100; 100]));
    assert!((50 - 16..=50).contains(&yields), "{yields} host yields");
    let yields = host_yields(us(20), (0..320).map(|poll| if poll % 32 == 0 { 0 } else { 100 }));
    assert!((290..=310).contains(&yields), "{yields} visits after 310 long polls");
}

/// Also where no slice has as many polls as there are between two readings by then.
#[test]
fn the_clock_is_read_in_slices_of_a_few_long_polls_after_short_ones() {
    let ex = builder().host_budget(us(20)).build().unwrap();
    let signals: Vec<_> = (0..4).map(|_| Signal::new()).collect();
    let begin = ex.spawn(yields(1_000));
    for signal in signals.clone() {
        ex.spawn(async move {
            for _ in 0..10 {
                signal.wait().await;
                work(us(100));
            }
        });
    }
    run(&ex, begin).unwrap();
    let mut most = Vec::new();
    for _ in 0..10 {
        signals.iter().for_each(Signal::set);
        let before = ex.stats();
        drain(&ex);
        most.push(ex.stats().host_yields - before.host_yields);
    }
    assert_eq!(most[0], 0, "it is after all four, and nothing is left to do");
    assert!(most[1..].iter().all(|&yields| yields == 3), "{most:?}");
}

/// The cap counts all polls, also those after which another queue goes on, and those after which the future given to `run_until` is
/// polled.
#[test]
fn the_poll_cap_counts_polls_whatever_comes_after_them() {
    let ex = builder().poll_cap(4).build().unwrap();
    add(&ex, "long\n small request=10\n later small s: 0\n long -: 20+spawn(s)*100 0");
    drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.preemptions), (201, 100));
    assert!(stats.polls <= 4 * stats.host_polls, "{} polls in {} turns", stats.polls, stats.host_polls);

    let (ex, signal) = (builder().poll_cap(4).build().unwrap(), Signal::new());
    let wakes = signal.clone();
    ex.spawn(async move {
        for _ in 0..100 {
            work(us(20));
            wakes.set();
            yield_now().await;
        }
    });
    run(&ex, async {
        for _ in 0..100 {
            signal.wait().await;
        }
    });
    let stats = ex.stats();
    assert_eq!(stats.polls, 100);
    assert!(stats.polls <= 4 * stats.host_polls, "{} polls in {} turns", stats.polls, stats.host_polls);
}

#[test]
fn ready_and_live() {
    let (ex, signal) = (scene("other"), Signal::new());
    let (other, waited) = (queue(&ex, "other"), signal.clone());
    let count = || {
        let (all, one) = (ex.stats(), other.stats());
        [(all.ready, all.live), (one.ready, one.live)]
    };
    other.spawn(async move { waited.wait().await });
    other.spawn(pending::<()>());
    ex.spawn(polls("", 1, us(1)));
    assert_eq!(count(), [(3, 3), (2, 2)]);
    drain(&ex);
    assert_eq!(count(), [(0, 2), (0, 2)]);
    // Seen from inside: the one that is polled is live and not ready, the other is both.
    let inner = ex.default_queue().clone();
    let seen = ex.spawn(async move { (inner.stats().ready, inner.stats().live) });
    ex.spawn(async {});
    assert_eq!(run(&ex, seen).unwrap(), (1, 2));
    signal.set();
    drain(&ex);
    assert_eq!(count(), [(0, 1), (0, 1)]);
}

#[test]
fn how_tasks_end() {
    let ex = world();
    let other = ex.new_queue("other").create().unwrap();
    ex.block_on(async {
        other.spawn(async {}).await.unwrap();
        other.spawn(async { 1 }).await.unwrap();
        let panics: Result<(), _> = other.spawn(async { panic!("on purpose") }).await;
        assert!(panics.unwrap_err().is_panic());
        let (ready, parked) = (other.spawn(async {}), other.spawn(pending::<()>()));
        ready.abort();
        assert!(ready.await.unwrap_err().is_cancelled());
        yield_now().await;
        parked.abort();
        assert!(parked.await.unwrap_err().is_cancelled());
    });
    let (all, queues) = (ex.stats(), [other.stats(), ex.default_queue().stats()]);
    let ended = queues.each_ref().map(|of| (of.spawned, of.completed, of.panicked, of.cancelled));
    assert_eq!(ended, [(5, 2, 1, 2), (0, 0, 0, 0)]);
    assert_eq!((all.spawned, all.completed, all.panicked, all.cancelled), (5, 2, 1, 2));
    assert_eq!((queues[0].live, queues[0].ready), (0, 0));
}

#[test]
fn queues_are_listed_in_the_order_in_which_they_were_created() {
    let names = |stats: ExecutorStats| stats.queues.into_iter().map(|queue| queue.name).collect::<Vec<_>>();
    let ex = scene("first\n second");
    assert_eq!(names(ex.stats()), ["default", "first", "second"]);
    // A later queue takes an earlier one's place inside, but not here.
    queue(&ex, "first").close();
    add(&ex, "third");
    assert_eq!(names(ex.stats()), ["default", "second", "third"]);
}
