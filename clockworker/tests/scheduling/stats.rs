//! Every counter, exact, on a manual clock.

use std::future::{Future, pending};
use std::time::Duration;

use clockworker::schedulers::Las;
use clockworker::{ExecutorStats, QueueStats, yield_now};

use crate::support::{Signal, Trace, VirtualTime, poller, us, yields};

/// A task of that many polls of that length.
fn work(sim: &VirtualTime, polls: usize, length: Duration) -> impl Future<Output = ()> + use<> {
    poller(sim, &Trace::new(), "", polls, length)
}

fn queue<'a>(stats: &'a ExecutorStats, name: &str) -> &'a QueueStats {
    stats.queues.iter().find(|queue| queue.name == name).expect("there is such a queue")
}

#[test]
fn a_new_executor_has_done_nothing() {
    let stats = VirtualTime::new().executor().stats();
    let counts = [
        stats.polls,
        stats.slices,
        stats.overruns,
        stats.preemptions,
        stats.host_polls,
        stats.host_yields,
        stats.spawned,
        stats.completed,
        stats.cancelled,
        stats.panicked,
    ];
    assert_eq!(counts, [0; 10]);
    assert_eq!((stats.busy, stats.overrun_time), (us(0), us(0)));
    assert_eq!((stats.ready, stats.live), (0, 0));
    let [default] = &stats.queues[..] else { panic!("one queue") };
    assert_eq!((default.name.as_str(), default.share, default.request), ("default", 1, us(500)));
    assert_eq!(default.policy_fault, None);
}

#[test]
fn one_slice_of_one_queue() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    ex.spawn(work(&sim, 3, us(10)));
    ex.spawn(work(&sim, 2, us(7)));
    sim.drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.busy, stats.slices), (5, us(44), 1));
    assert_eq!((stats.overruns, stats.overrun_time, stats.preemptions), (0, us(0), 0));
    // The host polls once: nobody was woken from outside, and there is no budget to use up.
    assert_eq!((stats.host_polls, stats.host_yields), (1, 0));
    assert_eq!((stats.spawned, stats.completed, stats.live, stats.ready), (2, 2, 0, 0));
    let default = queue(&stats, "default");
    assert_eq!((default.polls, default.busy, default.slices), (5, us(44), 1));
    assert_eq!((default.spawned, default.completed), (2, 2));
}

/// The future given to `run_until` belongs to no queue, so no queue pays for it, and no task.
#[test]
fn the_main_futures_time_is_nobodys() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let trace = Trace::new();
    sim.run(&ex, async {
        las.spawn(poller(&sim, &trace, "a", 2, us(10)));
        las.spawn(poller(&sim, &trace, "b", 3, us(4)));
        sim.work(us(1_000));
        yield_now().await;
        sim.work(us(1_000));
    });
    sim.drain(&ex);
    assert_eq!(ex.stats().busy, us(20 + 12));
    assert_eq!(las.stats().busy, us(20 + 12));
    // By what they had had: a 0, b 0, b 4, b 8, a 10. With a millisecond on a's account the order is the same; with one
    // on b's it is not, so see that neither had it.
    assert_eq!(trace.take(), "a1 b1 b2 b3 a2");
}

#[test]
fn the_hosts_time_is_nobodys() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let task = ex.spawn({
        let sim = sim.clone();
        async move {
            for _ in 0..5 {
                sim.work(us(10));
                sim.sleep(us(990)).await;
            }
        }
    });
    sim.run(&ex, task).unwrap();
    assert_eq!(sim.now(), us(5_000));
    let stats = ex.stats();
    assert_eq!((stats.busy, stats.polls, stats.slices), (us(50), 6, 6));
    // Once to begin with, once per timer.
    assert_eq!((stats.host_polls, stats.host_yields), (6, 0));
}

#[test]
fn overruns_and_by_how_much() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let a = ex.new_queue("a").request(us(100)).create().unwrap();
    let b = ex.new_queue("b").request(us(100)).create().unwrap();
    a.spawn(work(&sim, 4, us(70)));
    b.spawn(work(&sim, 4, us(70)));
    sim.drain(&ex);
    // Turns of 140 µs, 40 too long. The last of b's has no end, as nobody waits for it.
    let (a, b) = (a.stats(), b.stats());
    assert_eq!((a.polls, a.busy, a.slices, a.overruns, a.overrun_time), (4, us(280), 2, 2, us(80)));
    assert_eq!((b.polls, b.busy, b.slices, b.overruns, b.overrun_time), (4, us(280), 2, 1, us(40)));
    let all = ex.stats();
    assert_eq!((all.overruns, all.overrun_time, all.slices, all.preemptions), (3, us(120), 4, 0));
}

#[test]
fn a_slice_that_ends_on_time_is_no_overrun() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let a = ex.new_queue("a").request(us(100)).create().unwrap();
    let b = ex.new_queue("b").request(us(100)).create().unwrap();
    a.spawn(work(&sim, 20, us(10)));
    b.spawn(work(&sim, 20, us(10)));
    sim.drain(&ex);
    let all = ex.stats();
    assert_eq!((all.slices, all.overruns, all.overrun_time), (4, 0, us(0)));
}

#[test]
fn preemptions_count_for_the_queue_that_was_interrupted() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let long = ex.new_queue("long").create().unwrap();
    let small = ex.new_queue("small").request(us(10)).create().unwrap();
    long.spawn({
        let (sim, small) = (sim.clone(), small.clone());
        async move {
            for _ in 0..4 {
                sim.work(us(20));
                small.spawn(work(&sim, 1, us(1)));
                yield_now().await;
            }
        }
    });
    sim.drain(&ex);
    assert_eq!((long.stats().preemptions, small.stats().preemptions), (4, 0));
    assert_eq!((long.stats().slices, small.stats().slices), (5, 4));
    assert_eq!((long.stats().busy, small.stats().busy), (us(80), us(4)));
    assert_eq!(ex.stats().preemptions, 4);
}

#[test]
fn the_host_gets_its_turn_after_its_budget() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    ex.spawn(work(&sim, 10, us(100)));
    sim.drain(&ex);
    let stats = ex.stats();
    // After every second poll.
    assert_eq!((stats.polls, stats.slices, stats.host_yields, stats.host_polls), (10, 5, 5, 6));
}

/// Where the polls of a single queue are short the clock is not read after each, but the host waits no longer than 32
/// polls for that.
#[test]
fn a_host_budget_is_exact_to_32_polls() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    // A thousand polls of no time, then sudden long ones.
    ex.spawn({
        let sim = sim.clone();
        async move {
            yields(1_000).await;
            for _ in 0..100 {
                sim.work(us(100));
                yield_now().await;
            }
        }
    });
    sim.drain(&ex);
    let stats = ex.stats();
    assert!((50 - 16..=50).contains(&stats.host_yields), "{} host yields", stats.host_yields);
}

/// One short poll says nothing of the next: the clock is read after two long ones at the latest.
#[test]
fn a_short_poll_among_long_ones_does_not_make_the_clock_go_unread() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(20)).build().unwrap();
    ex.spawn({
        let sim = sim.clone();
        async move {
            for poll in 0..320 {
                sim.work(us(if poll % 32 == 0 { 0 } else { 100 }));
                yield_now().await;
            }
        }
    });
    sim.drain(&ex);
    let yields = ex.stats().host_yields;
    assert!((290..=310).contains(&yields), "{yields} visits after 310 long polls");
}

/// Also where no slice has as many polls as there are between two readings by then.
#[test]
fn short_polls_do_not_make_the_clock_go_unread_in_slices_of_a_few_long_ones() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(20)).build().unwrap();
    let signals: Vec<_> = (0..4).map(|_| Signal::new()).collect();
    let begin = ex.spawn(yields(1_000));
    for signal in &signals {
        let (sim, signal) = (sim.clone(), signal.clone());
        ex.spawn(async move {
            for _ in 0..10 {
                signal.wait().await;
                sim.work(us(100));
            }
        });
    }
    sim.run(&ex, begin).unwrap();
    let mut most = Vec::new();
    for _ in 0..10 {
        signals.iter().for_each(Signal::set);
        let before = ex.stats();
        sim.drain(&ex);
        most.push(ex.stats().host_yields - before.host_yields);
    }
    assert_eq!(most[0], 1, "once it is after all four");
    assert!(most[1..].iter().all(|&yields| yields == 4), "{most:?}");
}

#[test]
fn the_host_gets_its_turn_after_so_many_polls() {
    let sim = VirtualTime::new();
    let ex = sim.builder().poll_cap(4).build().unwrap();
    ex.spawn(work(&sim, 10, us(0)));
    sim.drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.slices, stats.host_yields, stats.host_polls), (10, 3, 2, 3));
}

/// The cap counts all polls, also those after which another queue goes on.
#[test]
fn the_poll_cap_counts_polls_that_end_in_a_preemption() {
    let sim = VirtualTime::new();
    let ex = sim.builder().poll_cap(4).build().unwrap();
    let long = ex.new_queue("long").create().unwrap();
    let small = ex.new_queue("small").request(us(10)).create().unwrap();
    long.spawn({
        let (sim, small) = (sim.clone(), small.clone());
        async move {
            for _ in 0..100 {
                sim.work(us(20));
                small.spawn(async {});
                yield_now().await;
            }
        }
    });
    sim.drain(&ex);
    let stats = ex.stats();
    assert_eq!(stats.polls, 201);
    assert_eq!(stats.preemptions, 100);
    assert!(stats.polls <= 4 * stats.host_polls, "{} polls in {} turns", stats.polls, stats.host_polls);
}

/// And those after which the future given to `run_until` is polled.
#[test]
fn the_poll_cap_counts_polls_after_which_the_main_future_goes_on() {
    let sim = VirtualTime::new();
    let ex = sim.builder().poll_cap(4).build().unwrap();
    let signal = Signal::new();
    ex.spawn({
        let (sim, signal) = (sim.clone(), signal.clone());
        async move {
            for _ in 0..100 {
                sim.work(us(20));
                signal.set();
                yield_now().await;
            }
        }
    });
    sim.run(&ex, async {
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
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let other = ex.new_queue("other").create().unwrap();
    let signal = Signal::new();
    other.spawn({
        let signal = signal.clone();
        async move { signal.wait().await }
    });
    other.spawn(pending::<()>());
    ex.spawn(work(&sim, 1, us(1)));
    assert_eq!((ex.stats().ready, ex.stats().live), (3, 3));
    assert_eq!((other.stats().ready, other.stats().live), (2, 2));
    sim.drain(&ex);
    assert_eq!((ex.stats().ready, ex.stats().live), (0, 2));
    assert_eq!((other.stats().ready, other.stats().live), (0, 2));
    // Seen from inside: the one that is polled is live and not ready, the other is both.
    let (first, second) = (ex.default_queue().clone(), ex.default_queue().clone());
    let seen = ex.spawn(async move { (first.stats().ready, first.stats().live) });
    ex.spawn(async move { drop(second) });
    assert_eq!(sim.run(&ex, seen).unwrap(), (1, 2));
    signal.set();
    sim.drain(&ex);
    assert_eq!((ex.stats().ready, ex.stats().live), (0, 1));
}

#[test]
fn how_tasks_end() {
    let ex = VirtualTime::new().executor();
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
    let stats = other.stats();
    assert_eq!((stats.spawned, stats.completed, stats.panicked, stats.cancelled), (5, 2, 1, 2));
    assert_eq!((stats.live, stats.ready), (0, 0));
    let stats = ex.stats();
    assert_eq!((stats.spawned, stats.completed, stats.panicked, stats.cancelled), (5, 2, 1, 2));
    let default = ex.default_queue().stats();
    assert_eq!((default.spawned, default.completed, default.panicked, default.cancelled), (0, 0, 0, 0));
}

#[test]
fn the_executors_counts_are_the_sums_of_its_queues() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(300)).build().unwrap();
    let signal = Signal::new();
    for (i, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let queue = ex.new_queue(name).share(1 + i as u32).request(us(50 + 100 * i as u64)).create().unwrap();
        for length in [3, 17, 90] {
            queue.spawn(work(&sim, 40, us(length)));
        }
        queue.spawn({
            let (sim, signal) = (sim.clone(), signal.clone());
            async move {
                for nap in 1..20 {
                    sim.sleep(us(100 * nap)).await;
                    sim.work(us(1));
                }
                signal.set();
            }
        });
    }
    sim.run(&ex, signal.wait());
    let all = ex.stats();
    let sum = |count: fn(&QueueStats) -> u64| all.queues.iter().map(count).sum::<u64>();
    assert_eq!(all.polls, sum(|q| q.polls));
    assert_eq!(all.slices, sum(|q| q.slices));
    assert_eq!(all.overruns, sum(|q| q.overruns));
    assert_eq!(all.preemptions, sum(|q| q.preemptions));
    assert_eq!(all.spawned, sum(|q| q.spawned));
    assert_eq!(all.busy, all.queues.iter().map(|q| q.busy).sum::<Duration>());
    assert_eq!(all.overrun_time, all.queues.iter().map(|q| q.overrun_time).sum::<Duration>());
    assert!(all.polls > 480 && all.preemptions > 0 && all.overruns > 0 && all.host_yields > 0, "{all:?}");
    // And they stay in the executor's when the queues are gone.
    sim.drain(&ex);
    let before = ex.stats();
    assert_eq!(before.live, 0);
    for name in ["a", "c"] {
        assert!(before.queues.iter().any(|queue| queue.name == name));
    }
    let work: u64 = 4 * (40 * (3 + 17 + 90) + 19);
    assert_eq!(before.busy, us(work));
}

#[test]
fn queues_are_listed_in_the_order_in_which_they_were_created() {
    let ex = VirtualTime::new().executor();
    let names = |stats: ExecutorStats| stats.queues.into_iter().map(|queue| queue.name).collect::<Vec<_>>();
    let first = ex.new_queue("first").create().unwrap();
    ex.new_queue("second").create().unwrap();
    assert_eq!(names(ex.stats()), ["default", "first", "second"]);
    // A later queue takes an earlier one's place inside, but not here.
    first.close();
    ex.new_queue("third").create().unwrap();
    assert_eq!(names(ex.stats()), ["default", "second", "third"]);
}
