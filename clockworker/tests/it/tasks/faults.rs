//! Panics in user code besides tasks (see `panics`) and schedulers (see `policies`): wakers of hosts and of those who
//! wait, closures of remote spawns, deadlines, what is refused. The executor goes on, and each task is answered.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, JoinSet, spawn_local, yield_now};

use crate::support::{
    CountingWaker, WakerCall, HookedWaker, MEANT, OnDrop, Probe, assert_balanced, assert_finished, caught, hold,
    in_child, output, panic_as_meant, panic_of, poll_once, settle, settle_run, untimed,
};

/// The executor takes and runs tasks as ever.
#[track_caller]
fn assert_usable(ex: &Executor) {
    let task = ex.spawn(async { spawn_local(async { 42 }).await.unwrap() });
    settle(ex);
    assert_eq!(output(task).unwrap(), 42);
    assert_balanced(&ex.stats());
}

fn touchy(at: WakerCall) -> HookedWaker {
    HookedWaker::new(at, || panic_as_meant("the waker"))
}

/// Panics when dropped.
fn bomb() -> OnDrop<impl FnOnce() + Send + 'static> {
    OnDrop::new(|| panic_as_meant("the bomb"))
}

#[test]
fn a_hosts_waker_that_panics_when_it_is_registered_panics_in_the_host_and_no_task_is_lost() {
    for at in [WakerCall::Clone, WakerCall::Drop] {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        let hooked = touchy(at);
        let waker = hooked.waker();
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        let mut hosts = [&*waker, Waker::noop()].into_iter().cycle();
        // The second host takes the first one's place, whose waker is dropped.
        let results: Vec<_> = (0..4)
            .map(|_| {
                let host = hosts.next().expect("there are always more");
                let polled = caught(|| run.as_mut().poll(&mut Context::from_waker(host)));
                polled.map(|polled| assert!(polled.is_pending()))
            })
            .collect();
        let panics = results.iter().filter(|result| result.is_err()).count();
        assert_eq!((panics, hooked.is_done()), (1, true), "{at:?}");
        // The same run goes on, and is woken.
        probe.finish();
        settle_run(run.as_mut());
        drop(run);
        assert_eq!(output(task).unwrap(), 2);
        assert_usable(&ex);
    }
}

#[test]
fn a_hosts_waker_that_panics_when_cloned_does_not_keep_a_later_one_from_being_woken() {
    for same_run in [true, false] {
        let ex = untimed();
        let hooked = touchy(WakerCall::Clone);
        let waker = hooked.waker();
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        let polled = caught(|| run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(polled.unwrap_err(), "the waker");
        if !same_run {
            run = Box::pin(ex.run_until(pending::<()>()));
        }
        let (wakes, waker) = CountingWaker::new();
        for n in 1..=3 {
            assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            let handle = ex.handle();
            thread::spawn(move || drop(handle.spawn(|| async {}))).join().unwrap();
            assert_eq!(wakes.count(), n, "in the same run: {same_run}");
        }
        settle_run(run.as_mut());
        assert_finished(&ex.stats(), 3, 0, 0);
    }
}

#[test]
fn a_hosts_waker_that_panics_when_woken_panics_in_whoever_woke_it_and_no_task_is_lost() {
    // By a spawn, a wake on this thread, one on the run's own future, an abort.
    for who in 0..4 {
        let ex = untimed();
        let (probe, main) = (Probe::new(), Probe::new());
        let task = ex.spawn(probe.future());
        let aborted = ex.spawn(pending::<()>());
        let hooked = touchy(WakerCall::Wake);
        let waker = hooked.waker();
        let mut run = Box::pin(ex.run_until(main.future()));
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let spawned = Cell::new(None);
        let woken = caught(|| match who {
            0 => spawned.set(Some(ex.spawn(async { 3 }))),
            1 => probe.waker().wake(),
            2 => main.waker().wake(),
            _ => aborted.abort(),
        });
        assert_eq!(woken.unwrap_err(), "the waker");
        assert!(spawned.take().is_none(), "its handle went with the panic");
        probe.finish();
        settle_run(run.as_mut());
        assert_eq!(output(task).unwrap(), 2);
        assert_eq!(aborted.is_finished(), who == 3);
        assert_eq!((ex.stats().completed, ex.stats().ready), (if who == 0 { 2 } else { 1 }, 0));
        main.finish();
        assert!(settle_run(run.as_mut()).is_some());
        drop(run);
        assert_usable(&ex);
    }
}

/// It aborts two members, and tells the host of the first, while another has finished.
#[test]
fn a_hosts_waker_that_panics_when_a_set_is_dropped_stops_nothing() {
    let ex = untimed();
    let (main, other) = (Probe::new(), untimed());
    let mut set = JoinSet::new();
    set.spawn_local_on(async {}, &other);
    settle(&other);
    (0..2).for_each(|_| drop(set.spawn_local_on(pending(), &ex)));
    let hooked = touchy(WakerCall::Wake);
    let waker = hooked.waker();
    let mut run = Box::pin(ex.run_until(main.future()));
    assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(caught(|| drop(set)).unwrap_err(), "the waker");
    main.finish();
    assert!(settle_run(run.as_mut()).is_some());
    drop(run);
    assert_usable(&ex);
    assert_usable(&other);
    assert_finished(&ex.stats(), 2, 2, 0);
}

#[test]
fn a_hosts_waker_that_panics_when_it_is_dropped_with_its_run_stops_nothing() {
    for done in [false, true] {
        let ex = untimed();
        let (probe, main) = (Probe::new(), Probe::new());
        let task = ex.spawn(probe.future());
        let hooked = touchy(WakerCall::Drop);
        let waker = hooked.waker();
        let mut run = Box::pin(ex.run_until(main.future()));
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        if done {
            main.finish();
            assert_eq!(caught(|| run.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()), Ok(true));
        }
        assert_eq!(caught(|| drop(run)), Ok(()));
        assert!(hooked.is_done());
        probe.finish();
        assert_usable(&ex);
        assert_eq!(output(task).unwrap(), 2);
    }
}

#[test]
fn a_hosts_waker_that_panics_when_it_is_dropped_with_its_run_in_a_panic_does_not_abort_the_process() {
    let ex = untimed();
    let hooked = touchy(WakerCall::Drop);
    let waker = hooked.waker();
    let result = caught(|| {
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        panic_as_meant("the first");
    });
    assert_eq!(result.unwrap_err(), "the first");
    assert!(hooked.is_done());
    assert_usable(&ex);
}

#[test]
fn a_hosts_waker_that_panics_when_it_is_dropped_after_the_executor_stops_nothing() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    let hooked = touchy(WakerCall::Drop);
    let waker = hooked.waker();
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // The run is never dropped, and keeps what it has: kept where LeakSanitizer finds it.
    static KEPT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
    KEPT.store(Box::into_raw(Box::new(run)).cast(), Ordering::Relaxed);
    assert_eq!(caught(|| drop(ex)), Ok(()));
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(probe.drops.get(), 1);
}

#[test]
fn who_waits_for_the_last_task_with_a_waker_that_panics_when_cloned_or_dropped_waits_in_vain_alone() {
    for at in [WakerCall::Clone, WakerCall::Drop] {
        let ex = untimed();
        let probe = Probe::new();
        drop(ex.spawn(probe.future()));
        settle(&ex);
        let hooked = touchy(at);
        let waker = hooked.waker();
        let mut other = Box::pin(ex.drained());
        assert!(poll_once(&mut other).is_pending());
        let failed = caught(|| {
            let mut drained = pin!(ex.drained());
            let _ = drained.as_mut().poll(&mut Context::from_waker(&waker));
            // Another waker takes the place of the first.
            let _ = poll_once(&mut drained);
        });
        assert_eq!(failed.unwrap_err(), "the waker", "{at:?}");
        probe.finish();
        settle(&ex);
        assert!(poll_once(&mut other).is_ready());
        assert_usable(&ex);
    }
}

#[test]
fn what_makes_a_future_panics_and_the_spawner_is_told() {
    let ex = untimed();
    let task = ex.handle().spawn(|| -> std::future::Ready<()> { panic_as_meant("the closure") });
    settle(&ex);
    assert_eq!(panic_of(output(task)), "the closure");
    assert_finished(&ex.stats(), 0, 0, 1);
    assert_usable(&ex);
}

#[test]
fn what_makes_a_future_panics_when_dropped_and_the_spawner_is_told() {
    // Aborted, refused by a queue, by a shutdown or by the end of the executor before it was taken in.
    for how in 0..4 {
        let ex = untimed();
        let queue = ex.new_queue("closed").create().unwrap();
        let guard = bomb();
        let task: JoinHandle<()> = ex.handle().spawn_on("closed", move || {
            let _guard = guard;
            pending()
        });
        match how {
            0 => task.abort(),
            1 => queue.close(),
            2 => {
                ex.block_on_shutdown(std::future::ready(()));
            }
            _ => {}
        }
        if how == 3 {
            drop(ex);
        } else {
            settle(&ex);
            assert_finished(&ex.stats(), 0, 0, 1);
        }
        assert_eq!(panic_of(output(task)), "the bomb", "{how}");
    }
}

#[test]
fn a_future_that_is_refused_and_panics_when_dropped_tells_its_handle() {
    let ex = untimed();
    let queue = ex.new_queue("closed").create().unwrap();
    queue.close();
    let task = queue.spawn(hold(bomb()));
    assert_eq!(panic_of(output(task)), "the bomb");
    // The closure of a spawn on a queue that there is not, or on an executor that is gone.
    let handle = ex.handle();
    for gone in [false, true] {
        if gone {
            ex.block_on_shutdown(std::future::ready(()));
        }
        let guard = bomb();
        let task = handle.spawn_on("closed", move || {
            let _guard = guard;
            pending::<()>()
        });
        assert_eq!(panic_of(output(task)), "the bomb");
    }
    drop(ex);
    let task = queue.spawn(hold(bomb()));
    assert_eq!(panic_of(output(task)), "the bomb");
    let guard = bomb();
    let task = handle.spawn(move || {
        let _guard = guard;
        pending::<()>()
    });
    assert_eq!(panic_of(output(task)), "the bomb");
}

#[test]
fn futures_that_are_refused_during_a_panic_and_panic_when_dropped_do_not_abort_the_process() {
    in_child(|| {
        let ex = untimed();
        let queue = ex.default_queue().clone();
        queue.close();
        let result = caught(|| {
            let _guard = OnDrop::new(|| drop(queue.spawn(hold(bomb()))));
            panic_as_meant("the first");
        });
        assert_eq!(result.unwrap_err(), "the first");
    });
}

#[test]
fn a_deadline_that_panics_ends_the_shutdown_and_the_next_one_finishes_it() {
    for in_drop in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        let guard = in_drop.then(bomb);
        let deadline = poll_fn(move |_| {
            let _guard = &guard;
            assert!(in_drop, "{}the deadline", MEANT);
            Poll::Ready(())
        });
        let failed = caught(|| ex.block_on_shutdown(deadline));
        assert_eq!(failed.unwrap_err(), if in_drop { "the bomb" } else { "the deadline" });
        assert!(output(ex.spawn(async {})).unwrap_err().is_refused());
        let report = ex.block_on_shutdown(std::future::ready(()));
        // Where the drop panicked, the tasks were cancelled before.
        assert_eq!(report.cancelled, u64::from(!in_drop));
        assert!(output(task).unwrap_err().is_cancelled());
        assert_eq!(probe.drops.get(), 1);
        assert_finished(&ex.stats(), 0, 1, 0);
    }
}

#[test]
fn a_set_whose_waker_panics_gives_every_output() {
    for at in [WakerCall::Clone, WakerCall::Wake, WakerCall::Drop] {
        let ex = untimed();
        let mut set: JoinSet<u32> = JoinSet::new();
        for i in 0..3 {
            set.insert(ex.spawn(async move {
                yield_now().await;
                i
            }));
        }
        let hooked = touchy(at);
        let waker = hooked.waker();
        let _ = caught(|| set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
        let _ = caught(|| drop(set.insert(ex.spawn(async { 3 }))));
        settle(&ex);
        let mut outputs = Vec::new();
        while !set.is_empty() {
            match caught(|| set.poll_join_next(&mut Context::from_waker(Waker::noop()))) {
                Ok(Poll::Ready(Some(output))) => outputs.push(output.unwrap()),
                Ok(_) => panic!("all tasks have finished: {set:?}, {at:?}"),
                Err(_) => {}
            }
        }
        // It may be the last to have the waker.
        let _ = caught(|| drop(set));
        assert!(hooked.is_done(), "{at:?}");
        outputs.sort_unstable();
        assert_eq!(outputs, [0, 1, 2, 3], "{at:?}");
        assert_usable(&ex);
    }
}

#[test]
fn a_set_whose_waker_panics_when_cloned_wakes_a_later_one() {
    for is_new in [false, true] {
        let ex = untimed();
        let mut set: JoinSet<u32> = JoinSet::new();
        let probe = Probe::new();
        set.insert(ex.spawn(probe.future()));
        settle(&ex);
        if !is_new {
            assert!(set.poll_join_next(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        let hooked = touchy(WakerCall::Clone);
        let waker = hooked.waker();
        assert!(caught(|| set.poll_join_next(&mut Context::from_waker(&waker)).is_pending()).is_err());
        let (wakes, waker) = CountingWaker::new();
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
        probe.finish();
        settle(&ex);
        assert_eq!(wakes.count(), 1, "it was new: {is_new}");
    }
}

/// Two share it; the one whose waker panics has not taken the other's place.
#[test]
fn who_waits_for_a_set_is_told_when_anothers_waker_panics() {
    let ex = untimed();
    let mut set: JoinSet<u32> = JoinSet::new();
    let probe = Probe::new();
    set.insert(ex.spawn(probe.future()));
    settle(&ex);
    let (wakes, waker) = CountingWaker::new();
    assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    let hooked = touchy(WakerCall::Clone);
    let bad = hooked.waker();
    assert!(caught(|| set.poll_join_next(&mut Context::from_waker(&bad)).is_pending()).is_err());
    assert_eq!(wakes.count(), 0);
    probe.finish();
    settle(&ex);
    assert_eq!(wakes.count(), 1);
}

/// A future, an output and a scheduler without `Debug`.
struct Mute(RunnableFifo);

impl Future for Mute {
    type Output = Mute;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Mute> {
        Poll::Ready(Mute(RunnableFifo::new()))
    }
}

impl Scheduler for Mute {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

/// Nothing of the executor's needs, so nothing can call, `Debug` of what users give it. What is panicked with is `Any`.
#[test]
fn debug_of_user_types_is_never_called() {
    fn shown(value: impl Debug) -> bool {
        !format!("{value:?}").is_empty()
    }
    let mute = || Mute(RunnableFifo::new());
    let ex = Executor::builder().scheduler(mute()).build().unwrap();
    assert!(shown(Executor::builder().scheduler(mute())));
    assert!(shown(ex.new_queue("mute").scheduler(mute())));
    let queue = ex.new_queue("mute").scheduler(mute()).create().unwrap();
    let task = queue.spawn(mute());
    let panics: JoinHandle<Mute> = queue.spawn(poll_fn(|_| std::panic::panic_any(7_u8)));
    assert!(shown(&task) && shown(task.abort_handle()) && shown(&queue) && shown(queue.group(1)));
    assert!(shown(ex.run_until(mute())) && shown(&ex) && shown(ex.handle()) && shown(ex.stats()));
    settle(&ex);
    let Err(error) = output(panics) else { panic!("an output") };
    assert!(shown(&error) && error.to_string().ends_with("panicked"));
    let set: JoinSet<Mute> = [task].into_iter().collect();
    assert!(shown(&set));
}
