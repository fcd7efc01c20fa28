//! `JoinSet` natively: across queues, groups, executors and threads. (What it has in common with tokio's is in
//! `drop_in/join_set.rs`.)

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::schedulers::Las;
use clockworker::{Executor, JoinSet, ManualClock, Queue, yield_now};

use crate::support::{
    Count, CountingWaker, Probe, assert_finished, assert_usable, complaint_of, elsewhere, output,
    panic_as_meant, parked, poll_once, settle, tick, untimed, yields,
};

/// Polls for the next output with that waker.
fn poll_next<T>(set: &mut JoinSet<T>, waker: &Waker) -> Poll<Option<T>> {
    set.poll_join_next(&mut Context::from_waker(waker)).map(|next| next.map(|result| result.unwrap()))
}

#[test]
fn members_are_on_any_queue_group_and_executor() {
    let (ex, other) = (untimed(), untimed());
    let queue = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let mut set = JoinSet::new();
    set.spawn_local_on(ready(1), &ex);
    set.spawn_local_on(ready(2), &queue);
    set.spawn_local_on(ready(3), &queue.group(7));
    set.spawn_local_on(ready(4), &other);
    settle(&other);
    let mut outputs = ex.block_on(set.join_all());
    outputs.sort_unstable();
    assert_eq!(outputs, [1, 2, 3, 4]);
    assert_eq!((queue.stats().completed, ex.stats().completed, other.stats().completed), (2, 3, 1));
}

#[test]
fn spawned_inside_a_task_they_are_beside_it() {
    let ex = untimed();
    let queue = ex.new_queue("own").create().unwrap();
    let task = queue.spawn(async {
        let mut set = JoinSet::new();
        for i in 0..10 {
            set.spawn_local(async move { i });
        }
        set.join_all().await.into_iter().sum::<i32>()
    });
    assert_eq!(ex.block_on(task).unwrap(), 45);
    assert_eq!(queue.stats().spawned, 11);
}

#[test]
fn handles_from_elsewhere_are_inserted_collected_and_extended_by() {
    let ex = untimed();
    let handle = ex.handle();
    let spawn = || Vec::from_iter((0..5).map(|i| handle.spawn(move || async move { i })));
    let mut set: JoinSet<i32> = elsewhere(spawn).into_iter().collect();
    set.extend((5..9).map(|i| ex.spawn(async move { i })));
    let abort = set.insert(ex.spawn(async { 9 }));
    assert_eq!((set.len(), abort.is_finished()), (10, false));
    assert_eq!(format!("{set:?}"), "JoinSet { len: 10 }");
    let mut outputs = ex.block_on(set.join_all());
    outputs.sort_unstable();
    assert!(outputs.into_iter().eq(0..10));
}

#[test]
fn an_iterator_that_panics_midway_leaves_its_tasks_to_the_executor() {
    let ex = untimed();
    let said = complaint_of(|| {
        let mut set = JoinSet::new();
        set.extend(
            (0..50).map(|i| if i == 25 { panic_as_meant("midway") } else { ex.spawn(async move { i }) }),
        );
    });
    assert_eq!(said, "midway");
    // The set went with the panic, and took its tasks along.
    settle(&ex);
    assert_finished(&ex.stats(), 0, 25, 0);
    assert_usable(&ex);
}

#[test]
fn members_and_outputs_go_with_it_or_are_let_go() {
    for how in ["dropped", "detached", "shut down"] {
        for finished in [false, true] {
            let ex = untimed();
            let drops = Count::default();
            let mut set = JoinSet::new();
            for _ in 0..10 {
                let guard = drops.guard();
                set.spawn_local_on(async move { if finished { guard } else { pending().await } }, &ex);
            }
            settle(&ex);
            assert_eq!(drops.get(), 0);
            match how {
                "dropped" => drop(set),
                "detached" => set.detach_all(),
                _ => ex.block_on(set.shutdown()),
            }
            if !finished && how != "shut down" {
                assert_eq!(drops.get(), 0, "not on this stack");
                tick(&ex);
            }
            let stays = !finished && how == "detached";
            assert_eq!((drops.get(), ex.stats().live), if stays { (0, 10) } else { (10, 0) }, "{how}");
            assert_eq!(ex.stats().completed, if finished { 10 } else { 0 });
        }
    }
}

/// Members finish and are let go before anybody looks; others take their places in the set, and finish or not before it is
/// looked at.
#[test]
fn those_that_were_let_go_do_not_stand_for_members_at_their_places() {
    for looks in [false, true] {
        let ex = untimed();
        let mut set = JoinSet::new();
        (0..3).for_each(|n| drop(set.spawn_local_on(ready(n), &ex)));
        settle(&ex);
        set.detach_all();
        set.spawn_local_on(pending(), &ex);
        (3..6).for_each(|n| drop(set.spawn_local_on(ready(n), &ex)));
        set.spawn_local_on(pending(), &ex);
        if looks {
            assert!(set.try_join_next().is_none());
        }
        settle(&ex);
        let given: Vec<i32> = std::iter::from_fn(|| set.try_join_next()).map(Result::unwrap).collect();
        assert_eq!((given, set.len()), (vec![3, 4, 5], 2));
    }
}

/// Tasks that have finished before they come, and members that finish: neither kind waits for all of the other.
#[test]
fn finished_tasks_inserted_and_members_that_finish_take_turns() {
    let ex = untimed();
    let mut over = (0..20).map(|_| ex.spawn(ready(1))).collect::<Vec<_>>().into_iter();
    settle(&ex);
    let mut set = JoinSet::new();
    let (mut given, mut members) = (Vec::new(), 0);
    for _ in 0..10 {
        (0..2).for_each(|_| drop(set.insert(over.next().expect("there are enough"))));
        (0..2).for_each(|_| drop(set.spawn_local_on(ready(2), &ex)));
        settle(&ex);
        members += 2;
        given.push(set.try_join_next().unwrap().unwrap());
    }
    assert!(given[..4].contains(&1) && given[..4].contains(&2), "{given:?}");
    given.extend(std::iter::from_fn(|| set.try_join_next()).map(Result::unwrap));
    assert_eq!(given.iter().filter(|&&kind| kind == 2).count(), members);
    assert_eq!(given.len(), 2 * members);
    assert!(set.is_empty());
}

#[test]
fn a_waiter_is_woken_once_per_batch_and_for_nothing_else() {
    let ex = untimed();
    let mut set = JoinSet::new();
    let (probes, tasks): (Vec<_>, Vec<_>) = (0..4).map(|_| parked(&ex)).unzip();
    set.extend(tasks);
    let ((first, one), (second, two)) = (CountingWaker::new(), CountingWaker::new());
    assert!(poll_next(&mut set, &one).is_pending());
    assert!(poll_next(&mut set, &one).is_pending());
    let woken_at_first = first.count();
    assert!(poll_next(&mut set, &two).is_pending());
    // A task that is polled and not over is nobody's business.
    probes[0].waker().wake();
    settle(&ex);
    assert_eq!(second.count(), 0);
    for probe in &probes[..3] {
        probe.finish();
    }
    settle(&ex);
    assert_eq!((first.count(), second.count()), (woken_at_first, 1), "the last that asked");
    for _ in 0..3 {
        assert!(matches!(poll_next(&mut set, &two), Poll::Ready(Some(_))));
    }
    assert!(set.try_join_next().is_none());
    probes[3].finish();
    settle(&ex);
    assert_eq!(poll_next(&mut set, &two), Poll::Ready(Some(2)));
    assert_eq!(poll_next(&mut set, &two), Poll::Ready(None));
}

#[test]
fn who_does_not_wait_is_not_woken_for_a_new_member() {
    let ex = untimed();
    let mut set = JoinSet::new();
    let (wakes, waker) = CountingWaker::new();
    let probe = Probe::new();
    // It was never awaited; it had an output to give; it was empty; and who awaited it gave up.
    for number in [1, 2] {
        set.spawn_local_on(ready(number), &ex);
        settle(&ex);
        assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(number)));
    }
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(None));
    set.spawn_local_on(probe.future(), &ex);
    settle(&ex);
    assert_eq!(wakes.count(), 0);
    assert!(pin!(set.join_next()).poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(pin!(set.join_next_with_id()).poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(wakes.count(), 0, "nor for looking at a member that is not over");
    set.spawn_local_on(ready(3), &ex);
    assert_eq!(wakes.count(), 0);
    settle(&ex);
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(3)));
    // None of it takes the wake for a member that is over while there is a waiter.
    assert!(poll_next(&mut set, &waker).is_pending());
    let before = wakes.count();
    probe.finish();
    settle(&ex);
    assert_eq!(wakes.count(), before + 1);
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(2)));
}

#[test]
fn a_waiter_is_woken_when_a_new_member_is_over_and_not_before() {
    let ex = untimed();
    let mut set = JoinSet::new();
    let (wakes, waker) = CountingWaker::new();
    let probes: Vec<Rc<Probe>> = (0..4).map(|_| Probe::new()).collect();
    set.spawn_local_on(probes[0].future(), &ex);
    settle(&ex);
    for (before, probe) in probes[1..].iter().enumerate() {
        assert!(poll_next(&mut set, &waker).is_pending());
        // Who looks without waiting does not take the waiter's place.
        set.spawn_local_on(pending(), &ex);
        set.spawn_local_on(probe.future(), &ex);
        assert!(set.try_join_next().is_none() && set.try_join_next_with_id().is_none());
        set.spawn_local_on(pending(), &ex);
        settle(&ex);
        assert_eq!(wakes.count(), before);
        probe.finish();
        settle(&ex);
        assert_eq!(wakes.count(), before + 1);
        assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(2)));
    }
    // One that was over before it came is over as soon as it is there.
    let over = ex.spawn(ready(7));
    settle(&ex);
    assert!(poll_next(&mut set, &waker).is_pending());
    set.insert(over);
    assert_eq!(wakes.count(), 4);
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(7)));
    // Who was woken for that is woken for what follows, once it has waited again.
    assert!(poll_next(&mut set, &waker).is_pending());
    assert!(set.try_join_next().is_none());
    probes[0].finish();
    settle(&ex);
    assert_eq!(wakes.count(), 5);
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(2)));
}

/// In the same poll in which it found nothing: then it has to look once more, and is woken.
#[test]
fn a_task_that_waits_and_inserts_afterwards_sees_the_new_member() {
    let ex = untimed();
    let mut set = JoinSet::new();
    set.spawn_local_on(pending(), &ex);
    let spawned = Rc::new(untimed());
    let on = Rc::clone(&spawned);
    let mut late = false;
    let waiter = ex.spawn(poll_fn(move |cx| {
        let polled = set.poll_join_next(cx);
        if !std::mem::replace(&mut late, true) {
            assert!(polled.is_pending());
            set.spawn_local_on(ready(5), &*on);
        }
        polled
    }));
    settle(&ex);
    settle(&spawned);
    settle(&ex);
    assert_eq!(output(waiter).unwrap().unwrap().unwrap(), 5);
}

#[test]
fn a_set_of_a_hundred_thousand_is_joined_in_linear_time() {
    const TASKS: u32 = 100_000;
    let ex = untimed();
    let queues: Vec<Queue> = (0..3).map(|i| ex.new_queue(&i.to_string()).create().unwrap()).collect();
    let sum = ex.block_on(async {
        let mut set = JoinSet::new();
        for i in 0..TASKS {
            set.spawn_local_on(
                async move {
                    yield_now().await;
                    u64::from(i)
                },
                &queues[i as usize % 3],
            );
        }
        let mut sum = 0;
        while let Some(output) = set.join_next().await {
            sum += output.unwrap();
        }
        sum
    });
    assert_eq!(sum, u64::from(TASKS) * u64::from(TASKS - 1) / 2);
    assert_finished(&ex.stats(), u64::from(TASKS), 0, 0);
    assert_eq!(ex.stats().polls, 2 * u64::from(TASKS));
}

/// A poll puts a thousand in order. Then it yields, and those beside it run.
#[test]
fn a_batch_of_a_hundred_thousand_is_put_in_order_over_many_polls() {
    const TASKS: u32 = 100_000;
    let ex = untimed();
    let mut set = JoinSet::new();
    (0..TASKS).for_each(|number| drop(set.spawn_local_on(ready(number), &ex)));
    settle(&ex);
    let (wakes, waker) = CountingWaker::new();
    let mut polls = 0;
    let first = loop {
        polls += 1;
        match poll_next(&mut set, &waker) {
            Poll::Pending => assert_eq!(wakes.count(), polls, "it is to be polled again"),
            Poll::Ready(first) => break first,
        }
        set.insert(ex.spawn(ready(TASKS)));
    };
    assert_eq!((first, polls), (Some(0), 98));
    settle(&ex);
    let rest: Vec<u32> = std::iter::from_fn(|| set.try_join_next()).map(Result::unwrap).collect();
    assert!(rest[..TASKS as usize - 1].iter().copied().eq(1..TASKS));
    assert_eq!(rest.len(), TASKS as usize - 1 + 97);
    // One that looks without waiting gets it at once.
    (0..TASKS).for_each(|number| drop(set.spawn_local_on(ready(number), &ex)));
    settle(&ex);
    assert_eq!(set.try_join_next().unwrap().unwrap(), 0);
}

#[test]
fn a_join_given_up_at_each_poll_loses_no_output() {
    for cut in 0..12 {
        let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
        let mut set = JoinSet::new();
        for i in 0..5_u32 {
            set.spawn_local_on(
                async move {
                    yields(i).await;
                    i
                },
                &ex,
            );
        }
        let mut outputs = Vec::new();
        {
            let mut joins = pin!(async {
                while let Some(output) = set.join_next().await {
                    outputs.push(output.unwrap());
                }
            });
            for _ in 0..cut {
                tick(&ex);
                let _ = poll_once(&mut joins.as_mut());
            }
        }
        settle(&ex);
        while let Some(output) = set.try_join_next() {
            outputs.push(output.unwrap());
        }
        outputs.sort_unstable();
        assert_eq!(outputs, [0, 1, 2, 3, 4], "given up at {cut}");
    }
}

#[test]
fn sets_inside_the_tasks_of_sets_go_all_at_once() {
    fn nest(depth: u32, drops: Count) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let _guard = drops.guard();
            let mut set = JoinSet::new();
            if depth > 0 {
                for _ in 0..2 {
                    set.spawn_local(nest(depth - 1, drops.clone()));
                }
            } else {
                set.spawn_local(pending());
            }
            set.join_all().await;
        })
    }
    let ex = untimed();
    let drops = Count::default();
    let mut set = JoinSet::new();
    set.spawn_local_on(nest(6, drops.clone()), &ex);
    settle(&ex);
    assert_eq!((drops.get(), ex.stats().live), (0, 127 + 64));
    set.abort_all();
    settle(&ex);
    assert_eq!((drops.get(), ex.stats().live), (127, 0));
}

#[test]
fn members_refused_by_an_executor_that_is_gone_are_cancelled() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let mut set = JoinSet::new();
    set.spawn_local_on(pending::<()>(), &queue);
    drop(ex);
    set.spawn_local_on(pending::<()>(), &queue);
    let refused: Vec<bool> =
        std::iter::from_fn(|| set.try_join_next()).map(|result| result.unwrap_err().is_refused()).collect();
    assert_eq!((refused.iter().filter(|&&refused| refused).count(), refused.len()), (1, 2));
}

/// One task awaits, another inserts, each member is awaited in turn: nothing is lost and nobody polled for nothing.
#[test]
fn two_tasks_share_a_set() {
    const MEMBERS: u32 = 100;
    let ex = untimed();
    let set: Rc<RefCell<JoinSet<u32>>> = Rc::default();
    let sum = Rc::new(Cell::new(0));
    set.borrow_mut().spawn_local_on(pending(), &ex);
    let waits = ex.spawn({
        let (set, sum) = (Rc::clone(&set), Rc::clone(&sum));
        poll_fn(move |cx| {
            while let Poll::Ready(Some(output)) = set.borrow_mut().poll_join_next(cx) {
                sum.set(sum.get() + output.unwrap());
            }
            if sum.get() == MEMBERS { Poll::Ready(()) } else { Poll::Pending }
        })
    });
    ex.spawn({
        let set = Rc::clone(&set);
        async move {
            for i in 0..MEMBERS {
                // Some end at once, some later.
                set.borrow_mut().spawn_local(async move {
                    yields(i % 3).await;
                    1
                });
                if i % 5 == 0 {
                    yield_now().await;
                }
            }
        }
    });
    settle(&ex);
    assert!(waits.is_finished(), "it stopped at {}", sum.get());
}

#[test]
fn a_waiter_is_woken_when_the_set_is_detached() {
    let ex = untimed();
    let set: Rc<RefCell<JoinSet<()>>> = Rc::default();
    set.borrow_mut().spawn_local_on(pending(), &ex);
    let waits = Rc::clone(&set);
    let waiter = ex.spawn(poll_fn(move |cx| waits.borrow_mut().poll_join_next(cx)));
    settle(&ex);
    assert!(!waiter.is_finished());
    set.borrow_mut().detach_all();
    settle(&ex);
    assert!(output(waiter).unwrap().is_none());
    assert_eq!(ex.stats().live, 1);
}

/// The future given to `run_until` waits for 64 polls where it wakes itself. Here nothing makes it: it is polled when the task
/// that it awaits is over.
#[test]
fn a_main_future_that_spawns_into_a_set_and_awaits_it_does_not_yield() {
    const ROUNDS: u32 = 10;
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).host_budget(Duration::MAX).build().unwrap();
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    // All polls are so long that a woken task does not wait for another.
    let works = move || clock.advance(Duration::from_micros(10));
    ex.spawn({
        let works = works.clone();
        async move {
            loop {
                counted.set(counted.get() + 1);
                works();
                yield_now().await;
            }
        }
    });
    ex.block_on(async {
        let mut set = JoinSet::new();
        let mut other = JoinSet::new();
        other.spawn_local(pending::<()>());
        for i in 0..ROUNDS {
            let [works, works_too] = [works.clone(), works.clone()];
            set.spawn_local(async move {
                works();
                i
            });
            // Beside something else, and given up.
            assert!(futures::poll!(pin!(other.join_next())).is_pending());
            other.spawn_local(async move {
                works_too();
                pending().await
            });
            assert_eq!(set.join_next().await.unwrap().unwrap(), i);
        }
    });
    assert!(polls.get() < 64, "{} polls beside {ROUNDS} rounds", polls.get());
}
