//! A `LocalSet`: where its tasks run, what drives them, and what becomes of them.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::task::{JoinHandle, LocalEnterGuard, LocalSet, spawn_local, yield_now};
use crate::support::{
    DropLog, OnDrop, Slot, complaint_of, current_thread, hold, multi_thread, on_thread, panic_as_meant,
};

#[test]
fn tasks_of_any_depth_stay_on_the_calling_thread() {
    async fn nest(depth: u32) {
        let here = thread::current().id();
        if depth > 0 {
            let child = spawn_local(Box::pin(nest(depth - 1)));
            child.await.unwrap();
        }
        assert_eq!(thread::current().id(), here);
    }
    for rt in [current_thread(), multi_thread()] {
        let here = thread::current().id();
        LocalSet::new().block_on(&rt, async {
            let tasks: Vec<JoinHandle<_>> = (0..128)
                .map(|i| {
                    spawn_local(async move {
                        yield_now().await;
                        nest(i % 5).await;
                        thread::current().id()
                    })
                })
                .collect();
            for task in tasks {
                assert_eq!(task.await.unwrap(), here);
            }
        });
    }
}

#[test]
fn runs_inside_tasks_of_each_other_to_any_depth() {
    async fn nest(local: Rc<LocalSet>, depth: u32) -> u32 {
        if depth == 0 {
            yield_now().await;
            return 0;
        }
        let child = local
            .spawn_local(Box::pin(nest(Rc::clone(&local), depth - 1)) as Pin<Box<dyn Future<Output = u32>>>);
        local.run_until(async { child.await.unwrap() + 1 }).await
    }
    for rt in [current_thread(), multi_thread()] {
        let local = Rc::new(LocalSet::new());
        assert_eq!(local.block_on(&rt, nest(Rc::clone(&local), 50)), 50);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn awaited_it_runs_all_tasks_to_their_end() {
    let done = Rc::new(RefCell::new(Vec::new()));
    let here = thread::current().id();
    let local = LocalSet::new();
    for name in ["a", "b"] {
        let done = Rc::clone(&done);
        local.spawn_local(async move {
            let child = Rc::clone(&done);
            spawn_local(async move {
                yield_now().await;
                yield_now().await;
                assert_eq!(thread::current().id(), here);
                child.borrow_mut().push("child");
            });
            yield_now().await;
            done.borrow_mut().push(name);
        });
    }
    // Not `Send`, so not a task of the runtime, but awaited in its block_on.
    local.await;
    assert_eq!(*done.borrow(), ["a", "b", "child", "child"]);
}

#[tokio::test]
async fn awaited_without_tasks_it_is_ready_at_once() {
    LocalSet::new().await;
    let mut local = LocalSet::default();
    (&mut local).await;
    local.spawn_local(async {}).abort();
    local.await;
}

#[test]
fn what_is_run_may_borrow_and_tasks_go_on_in_the_next_run() {
    let rt = current_thread();
    let local = LocalSet::new();
    let (tell, told) = oneshot::channel();
    let task = local.spawn_local(async move { told.await.unwrap() });
    let mut count = 0;
    local.block_on(&rt, async {
        yield_now().await;
        count += 1;
    });
    assert!(!task.is_finished());
    tell.send("second run").unwrap();
    assert_eq!(local.block_on(&rt, task).unwrap(), "second run");
    assert_eq!(count, 1);
}

#[test]
fn nothing_is_polled_before_a_run() {
    let rt = current_thread();
    let local = LocalSet::new();
    let polled = Rc::new(Cell::new(false));
    let inside = Rc::clone(&polled);
    let task = local.spawn_local(async move { inside.set(true) });
    rt.block_on(yield_now());
    assert!(!polled.get());
    local.block_on(&rt, task).unwrap();
    assert!(polled.get());
}

#[test]
fn a_yield_of_what_is_run_lets_all_that_was_spawned_begin() {
    let rt = current_thread();
    for _ in 0..20 {
        let local = LocalSet::new();
        let started = Rc::new(Cell::new(0));
        local.block_on(&rt, async {
            for i in 1..=3 {
                for _ in 0..50 {
                    let started = Rc::clone(&started);
                    spawn_local(async move { started.set(started.get() + 1) });
                }
                yield_now().await;
                assert_eq!(started.get(), 50 * i);
            }
        });
    }
}

#[test]
fn inside_a_guard_tasks_are_spawned_on_it() {
    let rt = current_thread();
    let local = LocalSet::new();
    let guard: LocalEnterGuard = local.enter();
    let task = spawn_local(async { true });
    assert!(local.block_on(&rt, task).unwrap());
    // Guards nest.
    let inner = LocalSet::new();
    let of_inner = {
        let _guard = inner.enter();
        spawn_local(async { 2 })
    };
    let of_outer = spawn_local(async { 1 });
    drop(guard);
    assert_eq!(local.block_on(&rt, of_outer).unwrap(), 1);
    assert!(!of_inner.is_finished());
    assert_eq!(inner.block_on(&rt, of_inner).unwrap(), 2);
}

#[test]
fn spawning_outside_is_a_clear_panic_that_names_the_function() {
    let complains =
        |said: String| assert!(said.contains("spawn_local") && said.contains("outside"), "{said}");
    complains(complaint_of(|| spawn_local(async {})));
    let local = LocalSet::new();
    complains(complaint_of(|| spawn_local(async {})));
    drop(local.enter());
    complains(complaint_of(|| spawn_local(async {})));
    for rt in [current_thread(), multi_thread()] {
        complains(complaint_of(|| rt.block_on(async { spawn_local(async {}).await })));
        // Another thread is outside, whatever this one runs.
        local.block_on(&rt, async {
            let said = thread::spawn(|| complaint_of(|| spawn_local(async {}))).join().unwrap();
            complains(said);
        });
    }
}

#[tokio::test]
async fn a_task_spawned_on_it_from_outside_wakes_its_host() {
    let local = LocalSet::new();
    let mut runs = pin!(local.run_until(pending::<()>()));
    assert!(poll_fn(|cx| Poll::Ready(runs.as_mut().poll(cx).is_pending())).await);
    tokio::select! {
        () = runs => unreachable!(),
        result = async { local.spawn_local(ready(1)).await } => assert_eq!(result.unwrap(), 1),
    }
}

#[test]
fn several_runs_at_once_all_finish() {
    let rt = current_thread();
    let local = Rc::new(LocalSet::new());
    let run = |n: u32| {
        local.run_until(async move {
            let mut sum = 0;
            for i in 0..n {
                sum += spawn_local(async move { i }).await.unwrap();
            }
            sum
        })
    };
    let sums = rt.block_on(async { tokio::join!(run(10), run(20), run(30)) });
    assert_eq!(sums, (45, 190, 435));
    // Also inside one of its own tasks.
    let inside = Rc::clone(&local);
    let task = local.spawn_local(async move {
        inside.run_until(async { spawn_local(async { 5 }).await.unwrap() }).await + 1
    });
    assert_eq!(local.block_on(&rt, task).unwrap(), 6);
}

#[test]
fn sets_run_beside_and_inside_each_other() {
    let rt = current_thread();
    let (a, b) = (LocalSet::new(), LocalSet::new());
    let (tell, told) = oneshot::channel();
    let (waits, tells) = rt.block_on(async {
        tokio::join!(
            a.run_until(async { spawn_local(async { told.await.unwrap() }).await.unwrap() }),
            b.run_until(async { spawn_local(async { tell.send(3).is_ok() }).await.unwrap() })
        )
    });
    assert!(waits == 3 && tells);
    let outer = LocalSet::new();
    let sum = outer.block_on(&rt, async {
        let task = spawn_local(async {
            let inner = LocalSet::new();
            let inside = inner.run_until(async { spawn_local(async { 1 }).await.unwrap() }).await;
            // Back outside, spawns go to the outer one, which alone is still run.
            inside + spawn_local(async { 2 }).await.unwrap()
        });
        task.await.unwrap()
    });
    assert_eq!(sum, 3);
}

#[test]
fn tasks_and_what_they_hold_are_dropped_with_it_on_its_thread() {
    let rt = current_thread();
    let local = LocalSet::new();
    let log = DropLog::new();
    let task = local.spawn_local(hold(log.local()));
    local.block_on(&rt, yield_now());
    drop(local);
    log.assert_here(1);
    assert!(rt.block_on(task).unwrap_err().is_cancelled());
}

#[test]
fn a_task_woken_after_the_last_run_does_not_hinder_the_drop() {
    let rt = current_thread();
    for elsewhere in [false, true] {
        let local = LocalSet::new();
        let (send, mut receive) = mpsc::channel::<()>(8);
        let task = local.spawn_local(async move { while receive.recv().await.is_some() {} });
        local.block_on(&rt, yield_now());
        on_thread(elsewhere, || drop(send));
        drop(local);
        assert!(rt.block_on(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn tasks_that_wake_one_another_when_dropped_are_not_polled() {
    let rt = current_thread();
    let local = LocalSet::new();
    let (tell_a, a) = oneshot::channel::<()>();
    let (tell_b, b) = oneshot::channel::<()>();
    let (drops, started) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for (tell, waits) in [(tell_a, b), (tell_b, a)] {
        let (drops, started) = (Rc::clone(&drops), Rc::clone(&started));
        local.spawn_local(async move {
            started.set(started.get() + 1);
            let _guard = OnDrop::new(move || {
                drops.set(drops.get() + 1);
                let _ = tell.send(());
            });
            let _ = waits.await;
            unreachable!("nobody sends but by being dropped");
        });
    }
    // And one that keeps a sender to itself.
    let (kept, waits) = oneshot::channel::<()>();
    local.spawn_local(async move {
        pending::<()>().await;
        drop(kept);
    });
    local.spawn_local(async move { drop(waits.await) });
    local.block_on(&rt, async {
        while started.get() < 2 {
            yield_now().await;
        }
        yield_now().await;
    });
    drop(local);
    assert_eq!(drops.get(), 2);
}

#[test]
fn a_spawn_in_a_drop_during_its_drop_is_refused() {
    let rt = current_thread();
    let local = LocalSet::new();
    let child = Slot::<JoinHandle<()>>::new();
    let slot = child.clone();
    local.spawn_local(hold(OnDrop::new(move || slot.put(spawn_local(pending())))));
    local.block_on(&rt, yield_now());
    drop(local);
    assert!(rt.block_on(child.take()).unwrap_err().is_cancelled());
}

#[test]
fn a_panic_of_what_is_run_is_passed_on_and_the_set_goes_on() {
    let rt = current_thread();
    let local = LocalSet::new();
    let (tell, told) = oneshot::channel::<u32>();
    let task = local.spawn_local(async move { told.await.unwrap() });
    let said = complaint_of(|| {
        local.block_on(&rt, async {
            yield_now().await;
            panic_as_meant("what is run");
        })
    });
    assert_eq!(said, "what is run");
    tell.send(4).unwrap();
    assert_eq!(local.block_on(&rt, task).unwrap(), 4);
}

#[test]
fn a_run_dropped_midway_leaves_the_tasks() {
    let rt = current_thread();
    let local = LocalSet::new();
    let steps = Rc::new(Cell::new(0));
    let counted = Rc::clone(&steps);
    let task = local.spawn_local(async move {
        for _ in 0..50 {
            counted.set(counted.get() + 1);
            // Not tokio's own: it has its driver ask for the next poll, which forgets it if its `block_on` ends before.
            clockworker::yield_now().await;
        }
    });
    for _ in 0..10 {
        rt.block_on(async {
            let mut run = pin!(local.run_until(pending::<()>()));
            assert!(poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_pending())).await);
        });
    }
    local.block_on(&rt, task).unwrap();
    assert_eq!(steps.get(), 50, "none was polled twice for one wake");
}

#[test]
fn it_lives_in_a_thread_local_with_its_runtime_or_without() {
    thread_local! {
        static LOCAL: LocalSet = LocalSet::new();
        static BOTH: (tokio::runtime::Runtime, LocalSet) = (current_thread(), LocalSet::new());
    }
    let rt = current_thread();
    let handle = rt.handle().clone();
    let (tell, told) = oneshot::channel();
    let other = thread::spawn(move || {
        let answer = LOCAL.with(|local| {
            local.spawn_local(pending::<()>());
            handle.block_on(
                local.run_until(async { spawn_local(async { told.await.unwrap() }).await.unwrap() }),
            )
        });
        BOTH.with(|(rt, local)| {
            local.spawn_local(pending::<()>());
            rt.block_on(async {
                local.run_until(async { spawn_local(async move { answer }).await.unwrap() }).await
            })
        })
    });
    tell.send(8).unwrap();
    assert_eq!(other.join().unwrap(), 8);
}

#[test]
fn it_shows_itself() {
    assert!(format!("{:?}", LocalSet::new()).starts_with("LocalSet"));
}
