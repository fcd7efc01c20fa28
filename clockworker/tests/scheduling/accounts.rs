//! Who pays: every nanosecond since an executor was made is in exactly one of four accounts. On a manual clock, exactly.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::schedulers::{GroupId, Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, ExecutorStats, ManualClock, yield_now};

use crate::support::{OnDrop, Signal, hold, never_rests, poll_once, us};

pub(super) fn on_manual_clock() -> (ManualClock, Executor) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    (clock, ex)
}

fn sum(stats: &ExecutorStats) -> Duration {
    stats.busy + stats.main + stats.own + stats.host
}

/// Polls a run that never ends once, as a host does. How long that took.
pub(super) fn turn(ex: &Executor, clock: &ManualClock) -> Duration {
    let mut run = pin!(ex.run_until(pending::<()>()));
    let before = clock.now();
    assert!(poll_once(&mut run).is_pending());
    clock.now() - before
}

#[test]
fn each_account_has_what_is_its_own() {
    let (clock, ex) = on_manual_clock();
    let other = ex.new_queue("other").create().unwrap();
    clock.advance(us(100)); // nobody runs it yet
    ex.block_on(async {
        clock.advance(us(3));
        let work = |time| {
            let clock = clock.clone();
            async move { clock.advance(us(time)) }
        };
        ex.spawn(work(5)).await.unwrap();
        clock.advance(us(4));
        other.spawn(work(7)).await.unwrap();
    });
    clock.advance(us(50));
    let stats = ex.stats();
    assert_eq!((stats.main, stats.busy, stats.own, stats.host), (us(7), us(12), us(0), us(150)));
    assert_eq!((ex.default_queue().stats().busy, other.stats().busy), (us(5), us(7)));
}

/// Has a queue do short polls, after each of which the clock is not read, and `send` after some of them. It pays for all its polls.
fn pays_for_its_polls(send: impl FnOnce(&Executor) -> Box<dyn FnMut()>) {
    let (clock, ex) = on_manual_clock();
    let queue = ex.new_queue("sends").create().unwrap();
    let mut send = send(&ex);
    let task = queue.spawn(async move {
        for poll in 1..=10_000 {
            clock.advance(Duration::from_nanos(100));
            if poll % 10 == 0 {
                send();
            }
            yield_now().await;
        }
    });
    ex.block_on(task).unwrap();
    assert_eq!((queue.stats().busy, ex.stats().own), (us(1_000), us(0)));
}

/// Admission drops their futures.
#[test]
fn a_queue_pays_for_its_polls_before_tasks_that_it_sends_and_aborts() {
    pays_for_its_polls(|ex| {
        let handle = ex.handle();
        Box::new(move || handle.spawn(|| async {}).abort())
    });
}

#[test]
fn a_queue_pays_for_its_polls_before_a_flood_of_tasks_that_it_sends() {
    pays_for_its_polls(|ex| {
        let handle = ex.handle();
        Box::new(move || (0..200).for_each(|_| drop(handle.spawn(|| async {}))))
    });
}

/// Admission answers them.
#[test]
fn a_queue_pays_for_its_polls_before_questions_that_it_asks() {
    pays_for_its_polls(|ex| {
        let handle = ex.handle();
        Box::new(move || assert!(poll_once(&mut pin!(handle.stats())).is_pending()))
    });
}

/// Where the future given to `run_until` is polled again and again, the clock is not read after each poll.
#[test]
fn all_the_polls_of_a_main_future_that_yields_are_on_its_account() {
    let (clock, ex) = on_manual_clock();
    let signals: Vec<_> = (0..200).map(|_| Signal::new()).collect();
    for signal in signals.clone() {
        ex.spawn(async move { signal.wait().await });
    }
    let mut run = pin!(ex.run_until(async {
        for poll in 1..=1_000 {
            clock.advance(Duration::from_nanos(100));
            if poll == 400 {
                ex.spawn(async {});
            }
            if poll == 700 {
                // More than one batch.
                signals.iter().for_each(Signal::set);
            }
            yield_now().await;
        }
    }));
    while poll_once(&mut run).is_pending() {
        clock.advance(us(50));
    }
    let stats = ex.stats();
    assert_eq!((stats.main, stats.own), (us(100), us(0)), "{stats:?}");
}

/// Some polls that take no time, and then such that take a millisecond: each of those has a turn of its own, after the first.
#[test]
fn a_main_future_whose_polls_become_long_leaves_the_thread_to_its_host_after_each() {
    let (clock, ex) = on_manual_clock();
    let mut polls = 0_u32;
    let mut run = pin!(ex.run_until(poll_fn(|cx| {
        polls += 1;
        if polls > 1_000 {
            clock.advance(us(1_000));
        }
        cx.waker().wake_by_ref();
        if polls == 1_100 { Poll::Ready(()) } else { Poll::Pending }
    })));
    let mut turns = 0;
    while poll_once(&mut run).is_pending() {
        turns += 1;
    }
    // At most 32 in the turn in which they become long.
    assert!((1_100 - 1_000 - 32..=100).contains(&turns), "{turns} turns");
}

#[test]
fn an_account_that_is_open_shows_what_it_owes() {
    let (clock, ex) = on_manual_clock();
    ex.block_on(async {
        clock.advance(us(3));
        assert_eq!((ex.stats().main, sum(&ex.stats())), (us(3), us(3)));
        let (inner, clock) = (ex.default_queue().clone(), clock.clone());
        ex.spawn(async move {
            clock.advance(us(5));
            assert_eq!(inner.stats().busy, us(5));
        })
        .await
        .unwrap();
    });
}

/// Records what it is told of service.
#[derive(Default)]
struct Served {
    fifo: RunnableFifo,
    told: Rc<RefCell<Vec<(GroupId, u64)>>>,
}

impl Scheduler for Served {
    fn push(&mut self, task: Task, why: Ready) {
        self.fifo.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.fifo.pop()
    }

    fn served(&mut self, task: Task, service_ns: u64) {
        self.told.borrow_mut().push((task.group, service_ns));
    }
}

#[test]
fn a_slow_drop_is_billed_to_its_own_queue_and_group() {
    let (clock, ex) = on_manual_clock();
    let told = Rc::default();
    let scheduler = Served { told: Rc::clone(&told), ..Served::default() };
    let queue = ex.new_queue("tenants").scheduler(scheduler).create().unwrap();
    let [slow, quick] = [1, 2].map(|tenant| queue.group(tenant));
    let dropping = clock.clone();
    let task = slow.spawn(hold(OnDrop::new(move || dropping.advance(us(10_000)))));
    turn(&ex, &clock);
    let slow_group = told.borrow()[0].0;
    told.borrow_mut().clear();
    task.abort();
    quick.spawn(async {});
    ex.spawn(async {});
    turn(&ex, &clock);
    turn(&ex, &clock);
    assert_eq!((queue.stats().busy, ex.default_queue().stats().busy), (us(10_000), us(0)));
    let told = told.borrow();
    assert_eq!(told[0], (slow_group, 10_000_000));
    assert_eq!(told[1].1, 0, "the neighbour's poll");
    assert_ne!(told[1].0, slow_group);
}

/// The host's budget of 200 µs ends each of these slices before their grant does.
#[test]
fn a_poll_that_is_longer_than_the_grant_is_an_overrun_whatever_ends_the_slice() {
    let (clock, ex) = on_manual_clock();
    let long = ex.new_queue("long").create().unwrap();
    ex.spawn(never_rests());
    let polled = clock.clone();
    long.spawn(async move {
        for _ in 0..5 {
            polled.advance(us(100_000));
            yield_now().await;
        }
    });
    let mut turns = 0;
    while long.stats().live > 0 && turns < 100_000 {
        turn(&ex, &clock);
        clock.advance(us(1));
        turns += 1;
        // The other queue's polls take no time, so that without this it is never ahead.
        if turns % 2 == 0 {
            ex.spawn({
                let clock = clock.clone();
                async move { clock.advance(us(1_000)) }
            });
        }
    }
    let stats = long.stats();
    assert_eq!((stats.completed, stats.overruns), (1, 5));
    assert_eq!(stats.overrun_time, 5 * us(100_000 - 500));
}

/// The last task polled was alone in its group, which is closed with it. What is dropped at admission spawns.
#[test]
fn what_a_refused_task_spawns_in_its_drop_is_in_no_closed_group() {
    let (clock, ex) = on_manual_clock();
    let told = Rc::default();
    let scheduler = Served { told: Rc::clone(&told), ..Served::default() };
    let queue = ex.new_queue("tenants").scheduler(scheduler).create().unwrap();
    let closing = ex.new_queue("closing").create().unwrap();
    let handle = ex.handle();
    let spawned = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&spawned);
    let remote = move || {
        let on_drop = SendOnDrop(Box::new(move || {
            let seen = std::sync::Arc::clone(&seen);
            let run = move || seen.store(true, std::sync::atomic::Ordering::Relaxed);
            drop(clockworker::spawn_local(async move { run() }));
        }));
        drop(handle.spawn_on("closing", move || async move { drop(on_drop) }));
    };
    queue.group(1).spawn(async move {
        std::thread::spawn(remote).join().unwrap();
        closing.close();
    });
    (0..3).for_each(|_| _ = turn(&ex, &clock));
    assert!(spawned.load(std::sync::atomic::Ordering::Relaxed));
    // It went to the default queue, in no group; of the group's tasks there was one poll.
    assert_eq!((told.borrow().len(), ex.default_queue().stats().completed), (1, 1));
}

pub(super) struct SendOnDrop(pub(super) Box<dyn FnMut() + Send>);

impl Drop for SendOnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Random programs: the four accounts are all the time there was, at any moment.
#[test]
fn the_accounts_are_all_the_time_there_was() {
    for seed in 1..=200_u64 {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (clock, ex) = on_manual_clock();
        let queues: Vec<_> =
            (0..3).map(|n| ex.new_queue(&n.to_string()).share(1 + n).create().unwrap()).collect();
        let mut tasks = Vec::new();
        for _ in 0..100 {
            let (work, slow_drop, polls) = (us(next(300)), us(next(300)), next(5));
            let (working, dropping) = (clock.clone(), clock.clone());
            let held = OnDrop::new(move || dropping.advance(slow_drop));
            tasks.push(queues[next(3) as usize].spawn(async move {
                let _held = held;
                for _ in 0..polls {
                    working.advance(work);
                    yield_now().await;
                }
            }));
            match next(4) {
                0 => tasks[next(tasks.len() as u64) as usize].abort(),
                1 => clock.advance(us(next(100))),
                _ => _ = turn(&ex, &clock),
            }
            let stats = ex.stats();
            assert_eq!(sum(&stats), clock.now(), "seed {seed}");
            let of_queues: Duration = stats.queues.iter().map(|queue| queue.busy).sum();
            assert_eq!(stats.busy, of_queues, "seed {seed}");
        }
    }
}
