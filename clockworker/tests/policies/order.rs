//! The order inside a queue, as the executor brings it about: every policy, with groups and without.

use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::time::Duration;

use clockworker::schedulers::{FairTurns, Las, Qlas, RunnableFifo, Scheduler, Serpt};
use clockworker::{Executor, Queue, spawn_local, yield_now};

use crate::support::*;

/// The order in which the tasks of a queue `q` with that policy are polled.
#[track_caller]
fn assert_order(policy: &str, tasks: &str, expected: &str) {
    let ex = scene(&format!("q policy={policy}\n{tasks}"));
    assert_eq!(drain(&ex), expected, "{policy}");
}

fn with_queue<S: Scheduler + 'static>(scheduler: S) -> (Executor, Queue) {
    let ex = world();
    let queue = ex.new_queue("q").scheduler(scheduler).create().unwrap();
    (ex, queue)
}

// ---- The policies

#[test]
fn runnable_fifo_goes_by_becoming_ready() {
    assert_order("RunnableFifo", "q a: 100*3\n q b: 1*2\n q c: 10*3", "a1 b1 c1 a2 b2 c2 a3 c3");
}

/// The documented order of pushes: what a poll wakes and spawns comes before the polled task itself.
#[test]
fn what_a_poll_wakes_and_spawns_comes_before_the_polled_task() {
    let tasks = "q w: 0~ 0
        later q c: 1*2
        q a: wake(w)+spawn(c) 0
        q b: 1";
    assert_order("RunnableFifo", tasks, "w1 a1 b1 w2 c1 a2 c2");
}

const LAS_TASKS: &str = "q a: 100*3\n q b: 60*4\n q c: 10*2";
/// Had so far:             a 0 b 0 c 0 c 10 b 60 a 100 b 120 b 180 a 200
const LAS_ORDER: &str = "a1 b1 c1 c2 b2 a2 b3 b4 a3";

#[test]
fn las_goes_by_what_each_task_has_had() {
    assert_order("Las", LAS_TASKS, LAS_ORDER);
}

#[test]
fn las_goes_by_what_the_group_has_had() {
    // Three tasks of one tenant are one competitor.
    let tasks = "q/1 a: 100*2\n q/1 b: 100*2\n q/1 c: 100*2\n q/2 m: 140*4";
    // Had so far:          g 0 m 0 g100 m140 g200 m280 g300 g400 m420 g500
    assert_order("Las", tasks, "a1 m1 b1 m2 c1 m3 a2 b2 m4 c2");
}

#[test]
fn las_sees_time_that_was_cut_to_pieces_by_slices() {
    // The host interrupts after each poll, so every slice is one poll; the order must not depend on it.
    let ex = builder().host_budget(us(0)).build().unwrap();
    add(&ex, &format!("q policy=Las\n{LAS_TASKS}"));
    assert_eq!(drain(&ex), LAS_ORDER);
    assert_eq!(ex.stats().slices, 9);
}

#[test]
fn qlas_goes_by_levels_and_lets_a_task_go_on_within_one() {
    // Level 0 ends at 16.384 µs, level 1 at 32.768, level 2 at 65.536.
    // a leaves level 0 after 24 µs, b with its end, c at once. Then a goes on in level 1 until 40 µs, and in level 2.
    assert_order("Qlas", "q a: 8*6\n q b: 8*3\n q c: 8", "a1 a2 a3 b1 b2 b3 c1 a4 a5 a6");
}

#[test]
fn qlas_goes_by_what_the_group_has_had() {
    // a1 takes the group to level 1, and b with it; the modest one stays in level 0 for all its 20 µs. In the group b1 was ready before a2.
    let tasks = "q/1 a: 20*2\n q/1 b: 20*2\n q/2 m: 5*4";
    assert_order("Qlas", tasks, "a1 m1 m2 m3 m4 b1 a2 b2");
}

/// Of requests of 10 µs and of 200 µs, those that have shown themselves to be of the long kind run one after another,
/// behind all new ones; under Qlas they would take turns at 32.768, 65.536 and 131.072 µs.
#[test]
fn serpt_learns_from_tasks_that_end() {
    let (ex, queue) = with_queue(Serpt::new().with_fair_turns(FairTurns::NEVER));
    for n in 0..200 {
        let (count, length) = if n % 10 == 0 { (10, us(20)) } else { (1, us(10)) };
        queue.spawn(polls("", count, length));
        drain(&ex);
    }
    add(&ex, "q a: 20*10\n q b: 20*10\n q c: 10");
    assert_eq!(drain(&ex), "a1 b1 c1 a2 a3 a4 a5 a6 a7 a8 a9 a10 b2 b3 b4 b5 b6 b7 b8 b9 b10");
}

// ---- Groups and children

/// A task's children are of its group: they cannot get ahead of their tenant's account.
#[test]
fn children_are_charged_to_their_parents_group() {
    let (ex, queue) = with_queue(Las::new());
    queue.group(7).spawn(async {
        note("p");
        work(us(100));
        ["x", "y"].into_iter().for_each(|name| drop(spawn_local(polls(name, 1, us(1)))));
    });
    queue.spawn(polls("a", 3, us(60)));
    // a is behind the group, which has had 100 µs, until it has had 120. Were the children new groups, they would come
    // before its second poll.
    assert_eq!(drain(&ex), "p a1 a2 x1 y1 a3");
}

#[test]
fn children_are_in_their_parents_queue() {
    let (ex, queue) = with_queue(RunnableFifo::new());
    let other = ex.new_queue("other").create().unwrap();
    run(&ex, async {
        let parent = other.spawn(async {
            let child = spawn_local(async { drop(spawn_local(async {})) });
            child.await.unwrap();
        });
        parent.await.unwrap();
        // Outside a task: the default queue.
        spawn_local(async {}).await.unwrap();
    });
    drain(&ex);
    let spawned = [&other, ex.default_queue(), &queue].map(|queue| queue.stats().spawned);
    assert_eq!(spawned, [3, 1, 0]);
}

// ---- A user's policy

#[test]
fn a_users_policy_decides() {
    let lifo: Spy = Spy::lifo();
    let (ex, queue) = with_queue(lifo);
    add(&ex, "q a: 1*2\n q b: 1*2\n q c: 1");
    assert_eq!(drain(&ex), "c1 b1 b2 a1 a2");
    assert_eq!(queue.stats().policy_fault, None);
}

/// Every call that the trait documents.
#[test]
fn a_users_policy_is_told_everything_in_order() {
    let log = Log::default();
    let lifo: Spy = Spy::lifo().logging(&log);
    let (ex, queue) = with_queue(lifo);
    let (tenant, signal) = (queue.group(5), Signal::new());
    let waited = signal.clone();
    tenant.spawn(async move {
        work(us(3));
        waited.wait().await;
        work(us(4));
    });
    drop(tenant);
    drain(&ex);
    let opened = "group_opened 0 for 5, push 1 of 0 Spawned";
    let first = "pop 1, served 1 of 0 3000";
    assert_eq!(log.take(), format!("{opened}, {first}"));
    queue.spawn(async move {
        signal.set();
        spawn_local(polls("", 1, us(2)));
        work(us(7));
        yield_now().await;
        work(us(8));
    });
    drain(&ex);
    let expected = [
        "push 2 of 2 Spawned, pop 2, served 2 of 2 7000",
        // The waker woke slot 1 before slot 3 was spawned, and slot 2 itself is last.
        "push 1 of 0 Woken, push 3 of 3 Spawned, push 2 of 2 Yielded",
        "pop 2, served 2 of 2 8000, finished 2, group_closed 2",
        "pop 3, served 3 of 3 2000, finished 3, group_closed 3",
        "pop 1, served 1 of 0 4000, finished 1, group_closed 0",
    ];
    assert_eq!(log.take(), expected.join(", "));
}

#[test]
fn each_queue_keeps_its_own_policy() {
    let ex = world();
    let lifo: Spy = Spy::lifo();
    ex.new_queue("lifo").scheduler(lifo).request(us(20)).create().unwrap();
    add(
        &ex,
        "las policy=Las request=20
        lifo a: 10*2
        las x: 10*2
        lifo b: 10*2
        las y: 10*2",
    );
    // Turns of two polls; inside them last in, first out, and turn by turn.
    assert_eq!(drain(&ex), "b1 b2 x1 y1 a1 a2 x2 y2");
}

// ---- Nothing starves

/// Runs `others`, tasks `o`, beside one task that is ready all the time, and counts their polls until it is polled. The task has had
/// more service than they will ever have; it is older than they are, or younger.
fn polls_before<S: Scheduler + 'static>(scheduler: S, older: bool, others: fn(&Queue)) -> usize {
    let (ex, queue) = with_queue(scheduler);
    // The first pop of all counts as a fair turn, which those that follow would have to wait for.
    queue.spawn(polls("", 1, us(2)));
    drain(&ex);
    let start = Signal::new();
    let begins = start.clone();
    if !older {
        others(&queue);
    }
    let victim = queue.spawn(async move {
        work(Duration::from_secs(1_000));
        begins.wait().await;
        starts("o").len()
    });
    if older {
        drain(&ex);
        others(&queue);
    }
    start.set();
    run(&ex, victim).unwrap()
}

/// Eight tasks that are never old: each ends after a poll and is followed by a new one.
fn ever_new(queue: &Queue) {
    fn next() -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async {
            polls("o", 1, us(2)).await;
            spawn_local(next());
        })
    }
    (0..8).for_each(|_| drop(queue.spawn(next())));
}

/// Eight tasks that yield for ever.
fn ever_yielding(queue: &Queue) {
    (0..8).for_each(|_| drop(queue.spawn(polls("o", usize::MAX, us(2)))));
}

#[test]
fn an_old_task_is_not_starved_by_a_stream_of_new_ones() {
    // Ready tasks R are 9; indices of groups G at most twice as many, as a task that ends is
    // followed by its child before it has left. The old task is alone in its group, and in its level, of two.
    assert_eq!(polls_before(RunnableFifo::new(), true, ever_new), 8);
    // One pop in 4, and in 32, which is so unless told otherwise.
    for every in [4, 32] {
        let turns = || FairTurns::every(NonZeroU32::new(every).unwrap());
        let polls = [
            polls_before(Las::new().with_fair_turns(turns()), true, ever_new),
            polls_before(Qlas::new().with_fair_turns(turns()), true, ever_new),
            polls_before(Serpt::new().with_fair_turns(turns()), true, ever_new),
        ];
        let most = [18, 2, 2 * 2].map(|turns| every as usize * turns);
        assert!(polls.iter().zip(most).all(|(&polls, most)| polls < most), "{polls:?} of {most:?}");
    }
    assert!(polls_before(Las::new(), true, ever_new) < 32 * 18);
    assert!(polls_before(Qlas::new(), true, ever_new) < 32 * 2);
    assert!(polls_before(Serpt::new(), true, ever_new) < 32 * 2 * 2);
}

#[test]
fn a_late_task_is_not_starved_by_those_that_never_sleep() {
    assert_eq!(polls_before(RunnableFifo::new(), false, ever_yielding), 8);
}
