//! Every byte is given back, in whichever order the holders of a task let go.

#![allow(clippy::waker_clone_wake, reason = "a wake that consumes a clone is what is tested")]

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use clockworker::{DEFAULT_QUEUE, JoinSet, spawn_local, yield_now};
use clockworker_testing::memory::{Allocated, COUNTING, Counting};

use support::{Probe, elsewhere, on_thread, parked, poll_with, settle, tick, untimed};

#[path = "support/mod.rs"]
mod support;

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

/// Bytes asked for and not given back, by all threads.
fn live() -> i64 {
    Allocated::now().bytes
}

/// What can be done with a waker to be rid of it.
fn use_up(waker: Waker, how: usize) {
    match how {
        0 => drop(waker),
        1 => waker.wake(),
        2 => waker.wake_by_ref(),
        3 => waker.clone().wake(),
        4 => elsewhere(|| drop(waker)),
        5 => elsewhere(|| waker.wake()),
        6 => elsewhere(|| drop(waker.clone())),
        _ => elsewhere(|| waker.wake_by_ref()),
    }
}

fn wakers_in_every_way_and_at_every_time() {
    for how in 0..8 {
        for moment in 0..4 {
            let ex = untimed();
            let (probe, task) = parked(&ex);
            let waker = probe.waker();
            // Asleep, finished, aborted, or gone with the executor.
            match moment {
                1 => probe.finish(),
                2 => task.abort(),
                _ => {}
            }
            if moment > 0 {
                tick(&ex);
            }
            let ex = (moment < 3).then_some(ex);
            use_up(waker, how);
            drop((task, probe, ex));
        }
    }
}

fn handles_before_and_after_the_end() {
    for moment in 0..3 {
        for abort_first in [false, true] {
            let ex = untimed();
            let task = ex.spawn(async {
                yield_now().await;
                vec![1_u8; 100]
            });
            if moment == 1 {
                settle(&ex);
            }
            let (abort, other) = (task.abort_handle(), task.abort_handle().clone());
            let ex = (moment < 2).then_some(ex);
            if abort_first {
                abort.abort();
            }
            elsewhere(|| drop(other));
            drop((task, abort));
            drop(ex);
        }
    }
}

/// A join handle that waits with a waker is dropped, or its task ends.
fn handles_that_wait() {
    for finishes in [false, true] {
        let (ex, probe) = (untimed(), Probe::new());
        let task = ex.spawn(probe.future());
        let waits = ex.spawn(async move { task.await.map_err(|_| vec![1_u8; 100]) });
        settle(&ex);
        if finishes {
            probe.finish();
            settle(&ex);
        } else {
            waits.abort();
        }
    }
}

/// It stands in the inbox, or among the arrivals, when it ends.
fn tasks_that_end_in_a_list() {
    for remote in [false, true] {
        let ex = untimed();
        drop(ex.spawn(poll_fn(move |cx| {
            let waker = cx.waker();
            on_thread(remote, || waker.wake_by_ref());
            Poll::Ready(())
        })));
        settle(&ex);
        // Cancelled by the same tick that finds it woken.
        let (sleeper, task) = parked(&ex);
        let waker = sleeper.waker();
        sleeper.waker().wake();
        if remote {
            elsewhere(|| task.abort());
        }
        drop((ex, task));
        waker.wake();
    }
}

fn tasks_from_other_threads() {
    let ex = untimed();
    let handle = ex.handle();
    let task = elsewhere(|| handle.spawn(|| async { vec![1_u8; 100] }));
    let aborted = elsewhere(|| handle.spawn(pending::<()>));
    aborted.abort();
    settle(&ex);
    let late = elsewhere(|| handle.spawn(|| async { vec![1_u8; 100] }));
    drop((ex, aborted, late));
    elsewhere(|| drop(task));
    drop(elsewhere(|| handle.spawn(|| async { vec![1_u8; 100] })));
}

/// More than the owner thread takes references to what they share at a time, and gives them back.
fn many_tasks() {
    let ex = untimed();
    let tasks: Vec<_> = (0..5_000).map(|n| ex.spawn(async move { vec![n; 3] })).collect();
    settle(&ex);
    drop(tasks);
    let rest: Vec<_> = (0..5_000).map(|_| ex.spawn(pending::<()>())).collect();
    settle(&ex);
    elsewhere(move || drop(rest));
}

/// More than an executor keeps of freed cells.
fn many_tasks_wherever_they_are_freed() {
    for when in 0..5 {
        let ex = untimed();
        let spawn = || (0..1_000_usize).map(|number| ex.spawn(async move { number })).collect::<Vec<_>>();
        let mut tasks = spawn();
        settle(&ex);
        match when {
            0 => elsewhere(|| drop(tasks)),
            1 => {
                drop(ex);
                drop(tasks);
            }
            2 => {
                drop(ex);
                elsewhere(|| drop(tasks));
            }
            3 => {
                let rest = tasks.split_off(500);
                elsewhere(|| drop(tasks));
                let more = spawn();
                drop(ex);
                elsewhere(|| drop(rest));
                drop(more);
            }
            // Some are left at each end.
            _ => {
                let kept: Vec<_> = tasks.into_iter().step_by(100).collect();
                drop(ex);
                drop(kept);
            }
        }
    }
}

/// A burst leaves what its survivors need, on whichever thread the others are freed, and what an executor keeps: 1 MiB of cells, and records for as
/// many tasks as there were at a time.
fn a_burst_leaves_what_its_survivors_need() {
    for freed_elsewhere in [false, true] {
        let ex = untimed();
        drop(ex.spawn(pending::<()>()));
        let burst = |tasks: usize| -> Vec<_> {
            let tasks = (0..tasks).map(|number| ex.spawn(async move { [number; 16] })).collect();
            settle(&ex);
            tasks
        };
        let empty = live();
        let (mut left, tasks): (Vec<_>, Vec<_>) =
            burst(100_000).into_iter().enumerate().partition(|(number, _)| number % 100 == 0);
        if freed_elsewhere {
            elsewhere(|| drop(tasks))
        } else {
            drop(tasks)
        }
        left.shrink_to_fit();
        tick(&ex);
        // What is known of a task is more where probes ask for it.
        let record = if cfg!(feature = "observe") { 80 } else { 16 };
        let most = 1_000 * 256 + (3 << 19) + (record << 17);
        let kept = live() - empty;
        assert!(kept < most, "{kept} bytes kept, of at most {most}");
    }
}

fn queues_and_groups() {
    let ex = untimed();
    for key in 0..10 {
        let queue = ex.new_queue("some queue").create().expect("the name is free");
        let group = queue.group(key);
        drop(group.spawn(async { vec![1_u8; 100] }));
        drop(queue.group(key).clone());
        settle(&ex);
        drop(group);
        queue.close();
    }
}

/// What a burst of tasks needed is given back while the executor goes on, but for a little: also beside an open group.
fn a_burst_leaves_little() {
    let ex = untimed();
    let _group = ex.default_queue().group(1);
    let empty = live();
    let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
    for _ in 0..2 {
        for _ in 0..200_000 {
            let (wakers, mut waits) = (Rc::clone(&wakers), true);
            drop(ex.spawn(poll_fn(move |cx| {
                if !std::mem::take(&mut waits) {
                    return Poll::Ready(());
                }
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::Pending
            })));
        }
        // A group whose record is behind those of all tasks, and that goes last.
        let last = ex.default_queue().group(2);
        settle(&ex);
        wakers.take().into_iter().for_each(Waker::wake);
        settle(&ex);
        drop(last);
        let kept = live() - empty;
        assert!(kept < 9 << 18, "{kept} bytes kept");
    }
}

/// So does a set that goes on.
fn a_burst_in_a_set_leaves_little() {
    let ex = untimed();
    let mut set = JoinSet::new();
    let empty = live();
    for _ in 0..2 {
        for _ in 0..100_000 {
            set.spawn_local_on(async {}, &ex);
        }
        settle(&ex);
        while set.try_join_next().is_some() {}
        assert!(set.is_empty());
        let kept = live() - empty;
        assert!(kept < 9 << 18, "{kept} bytes kept, the executor's own included");
    }
}

fn large_futures_whose_handles_are_held() {
    let ex = untimed();
    let future = || async {
        let held = [0_u8; 64 << 10];
        yield_now().await;
        held.len()
    };
    let queue = ex.default_queue();
    let group = queue.group(1);
    let captured = future();
    let spawn = || {
        [
            ex.spawn(future()),
            queue.try_spawn(future()).expect("there is room"),
            group.spawn(future()),
            ex.handle().spawn(future),
            ex.handle().spawn_in(DEFAULT_QUEUE, 1, future),
        ]
    };
    let first = (spawn(), ex.handle().spawn(|| captured));
    settle(&ex);
    let empty = live();
    let tasks: Vec<_> = (0..100).flat_map(|_| spawn()).collect();
    assert!(live() - empty > 300 * (64 << 10));
    settle(&ex);
    assert!(tasks.iter().chain(&first.0).chain([&first.1]).all(|task| task.is_finished()));
    let kept = (live() - empty) / tasks.len() as i64;
    assert!(kept < 256, "{kept} bytes kept of each future that has ended");
}

/// Its drop wakes it while it is dropped, and its joiner spawns.
fn tasks_woken_by_their_own_end() {
    struct Spawns;

    impl Wake for Spawns {
        fn wake(self: Arc<Self>) {
            drop(spawn_local(async {}));
        }
    }

    struct WakesOnDrop(Waker);

    impl Drop for WakesOnDrop {
        fn drop(&mut self) {
            self.0.wake_by_ref();
        }
    }

    let ex = untimed();
    let mut own = None;
    let mut task = ex.spawn(poll_fn(move |cx| {
        own.get_or_insert_with(|| WakesOnDrop(cx.waker().clone()));
        Poll::<()>::Pending
    }));
    settle(&ex);
    let waker = Waker::from(Arc::new(Spawns));
    assert!(poll_with(&mut task, &waker).is_pending());
    task.abort();
    settle(&ex);
}

/// A set goes, here or elsewhere, or lets its members go: a waker waits for it or not, and a member is at its end or not.
fn sets_with_members_in_every_state() {
    for how in 0..32 {
        let [waits, finishes, aborts, settles, detaches] = [0, 1, 2, 3, 4].map(|bit| how >> bit & 1 == 1);
        let (ex, probe) = (untimed(), Probe::new());
        let over = ex.spawn(async { vec![1_u8; 100] });
        settle(&ex);
        let mut set: JoinSet<Vec<u8>> = JoinSet::new();
        let inner = probe.future();
        let member = set.spawn_local_on(
            async move {
                inner.await;
                vec![1_u8; 100]
            },
            &ex,
        );
        settle(&ex);
        if waits {
            let waker = Waker::from(Arc::new(WakesNobody));
            assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
        }
        if finishes {
            probe.finish();
        }
        if aborts {
            member.abort();
        }
        if settles {
            settle(&ex);
        }
        set.insert(over);
        if detaches {
            set.detach_all();
            assert!(set.try_join_next().is_none());
        }
        elsewhere(|| drop(set));
    }
}

/// A set that lets finished members go keeps nothing of them.
fn a_set_lets_many_go() {
    let ex = untimed();
    let mut set = JoinSet::new();
    let mut spawn = || {
        (0..10_000).for_each(|_| drop(set.spawn_local_on(async { [0_u8; 100] }, &ex)));
        settle(&ex);
        set.detach_all();
        live()
    };
    let before = spawn();
    assert!(spawn() <= before, "of the second time nothing is kept");
}

struct WakesNobody;

impl Wake for WakesNobody {
    fn wake(self: Arc<Self>) {}
}

/// More wakers of a task than its record lends, before and after its end, dropped here and elsewhere.
fn more_wakers_than_are_lent() {
    for (finishes, there) in [(false, 0), (false, 400), (true, 0), (true, 100), (true, 400)] {
        let ex = untimed();
        let (probe, task) = parked(&ex);
        let waker = probe.waker();
        let mut wakers = vec![waker; 400];
        let theirs = wakers.split_off(400 - there);
        if finishes {
            probe.finish();
            settle(&ex);
        }
        elsewhere(|| drop(theirs));
        wakers.extend(wakers.clone());
        drop((wakers, task));
        settle(&ex);
    }
}

// One test, as the count is the process's.
#[test]
fn every_byte_is_given_back() {
    let scenes: [(&str, fn()); 18] = [
        ("wakers", wakers_in_every_way_and_at_every_time),
        ("handles", handles_before_and_after_the_end),
        ("handles that wait", handles_that_wait),
        ("tasks that end in a list", tasks_that_end_in_a_list),
        ("tasks woken by their own end", tasks_woken_by_their_own_end),
        (
            "aborted tasks of a queue that gets to nothing else",
            aborted_tasks_of_a_queue_that_gets_to_nothing_else,
        ),
        ("wakes of many queues allocate nothing", wakes_of_many_queues_allocate_nothing),
        ("tasks from other threads", tasks_from_other_threads),
        ("many tasks", many_tasks),
        ("many tasks, freed in many places", many_tasks_wherever_they_are_freed),
        ("a burst freed elsewhere", a_burst_leaves_what_its_survivors_need),
        ("sets", sets_with_members_in_every_state),
        ("a set that lets many go", a_set_lets_many_go),
        ("more wakers than are lent", more_wakers_than_are_lent),
        ("large futures", large_futures_whose_handles_are_held),
        ("queues and groups", queues_and_groups),
        ("a burst", a_burst_leaves_little),
        ("a burst in a set", a_burst_in_a_set_leaves_little),
    ];
    for (what, scene) in scenes {
        // Once for what is made only once: thread-locals, the clock.
        scene();
        let before = live();
        scene();
        assert_eq!(live() - before, 0, "bytes lost with {what}");
    }
}

/// An idle queue beside a busy one has slices for drops only, in which its scheduler is given nothing.
fn aborted_tasks_of_a_queue_that_gets_to_nothing_else() {
    let ex = untimed();
    let idle = ex.new_queue("idle").idle().create().unwrap();
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    let busy = ex.spawn(async {
        loop {
            yield_now().await;
        }
    });
    let waits = idle.spawn(pending::<()>());
    let mut after = Vec::new();
    for _ in 0..4 {
        for _ in 0..1_000 {
            idle.spawn(pending::<()>()).abort();
            let _ = poll_with(&mut run, Waker::noop());
        }
        after.push(live());
    }
    assert!(after.windows(2).all(|two| two[1] - two[0] < 16 << 10), "{after:?}");
    drop((run, busy, waits));
}

/// Tasks of many queues, woken in one poll.
fn wakes_of_many_queues_allocate_nothing() {
    let ex = untimed();
    let queues: Vec<_> =
        (0..100).map(|number| ex.new_queue(&format!("{number}")).create().unwrap()).collect();
    let parked: Vec<_> = queues
        .iter()
        .map(|queue| {
            let probe = Probe::new();
            (queue.spawn(probe.future()), probe)
        })
        .collect();
    settle(&ex);
    let wakers: Vec<_> = parked.iter().map(|(_, probe)| probe.waker()).collect();
    let before = Allocated::now();
    wakers.iter().for_each(Waker::wake_by_ref);
    assert_eq!(Allocated::now().requests, before.requests);
    settle(&ex);
    assert!(parked.iter().all(|(_, probe)| probe.polls.get() == 2));
}
