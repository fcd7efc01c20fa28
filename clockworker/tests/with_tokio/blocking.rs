//! `block_on` and `block_on_shutdown` beside tokio: they panic, and say why, where they would put to sleep the thread that
//! drives the runtime, and work wherever tokio's own `block_on` does.

use std::future::{Future, ready};
use std::thread;
use std::time::Duration;

use clockworker::spawn_local;
use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::task::{LocalSet, block_in_place, spawn_blocking};

use crate::support::{caught, complaint_of, current_thread, multi_thread, place_of_panic, untimed};

/// Both ways to block panic with the reason, and the executor is as it was.
fn assert_panics() {
    let ex = untimed();
    let task = ex.spawn(async { 1 });
    let complaints =
        [complaint_of(|| ex.block_on(sleeps())), complaint_of(|| ex.block_on_shutdown(sleeps()).drained)];
    for said in complaints {
        assert!(
            said.contains("from within a runtime") && said.contains("drive asynchronous tasks"),
            "{said}"
        );
    }
    assert!(!ex.handle().is_stopped() && !task.is_finished());
    assert_eq!(ex.stats().host_polls, 0);
    assert_eq!(ex.run_until(task).now_or_never().expect("it is ready").unwrap(), 1);
}

/// Both work, and timers fire.
fn assert_works() {
    let ex = untimed();
    let answer = ex.block_on(async {
        sleeps().await;
        spawn_local(async {
            sleeps().await;
            42
        })
        .await
        .unwrap()
    });
    assert_eq!(answer, 42);
    assert!(ex.block_on_shutdown(sleeps()).drained);
}

async fn sleeps() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[test]
fn it_panics_in_the_future_that_a_runtime_runs() {
    for rt in [current_thread(), multi_thread()] {
        rt.block_on(async { assert_panics() });
        // Also through a handle, and after an await.
        let handle = rt.handle().clone();
        if handle.runtime_flavor() != tokio::runtime::RuntimeFlavor::CurrentThread {
            handle.block_on(async {
                sleeps().await;
                assert_panics();
            });
        }
    }
}

#[test]
fn it_panics_in_the_tasks_of_a_runtime() {
    for rt in [current_thread(), multi_thread()] {
        rt.block_on(rt.spawn(async { assert_panics() })).unwrap();
        let local = LocalSet::new();
        let task = local.spawn_local(async { assert_panics() });
        local.block_on(&rt, task).unwrap();
    }
}

#[test]
fn it_panics_in_the_tasks_of_an_executor_that_runs_there() {
    for rt in [current_thread(), multi_thread()] {
        let outer = untimed();
        rt.block_on(outer.run_until(async {
            assert_panics();
            spawn_local(async { assert_panics() }).await.unwrap();
        }));
    }
}

#[test]
fn outside_a_runtime_it_works() {
    let ex = untimed();
    assert_eq!(ex.block_on(async { 1 }), 1);
    assert!(ex.block_on_shutdown(ready(())).drained);
    // Also on a thread that a task of a runtime has made, which knows of none.
    current_thread().block_on(async {
        let answer = thread::spawn(|| untimed().block_on(async { 2 })).join().unwrap();
        assert_eq!(answer, 2);
    });
}

#[test]
fn on_a_thread_for_blocking_work_it_works() {
    for rt in [current_thread(), multi_thread()] {
        rt.block_on(async { spawn_blocking(assert_works).await.unwrap() });
    }
}

#[test]
fn on_a_thread_that_has_entered_a_runtime_that_others_drive_it_works() {
    let rt = multi_thread();
    let _guard = rt.enter();
    assert_works();
    // Driven by this test's own thread.
    let rt = current_thread();
    let handle = rt.handle().clone();
    let (done, is_done) = tokio::sync::oneshot::channel();
    let other = thread::spawn(move || {
        let _guard = handle.enter();
        assert_works();
        done.send(()).unwrap();
    });
    // Not on this thread, where another runtime is entered.
    thread::scope(|scope| scope.spawn(|| rt.block_on(is_done).unwrap()).join().unwrap());
    other.join().unwrap();
}

/// As tokio's own `Handle::block_on`: nobody can tell whether the runtime is driven elsewhere, nor what is awaited.
#[test]
fn on_a_thread_that_has_entered_a_runtime_that_nobody_drives_it_works_without_timers() {
    let rt = current_thread();
    let _guard = rt.enter();
    assert_eq!(untimed().block_on(async { spawn_local(async { 3 }).await.unwrap() }), 3);
}

#[test]
fn where_tokio_lets_a_worker_block_it_works() {
    let rt = multi_thread();
    rt.block_on(async {
        // A worker hands its other work on before.
        tokio::spawn(async { block_in_place(assert_works) }).await.unwrap();
        block_in_place(assert_works);
    });
}

#[test]
fn tokios_own_answer_is_the_same() {
    fn both<F: Future<Output = ()>>(block_on: impl Fn(F), future: impl Fn() -> F) -> [bool; 2] {
        let ours = caught(|| untimed().block_on(async {})).is_err();
        let theirs = caught(|| block_on(future())).is_err();
        [ours, theirs]
    }
    let rt = multi_thread();
    let handle = rt.handle().clone();
    let ask = move || both(|future| handle.block_on(future), || async {});
    assert_eq!(ask(), [false, false]);
    {
        let _guard = rt.enter();
        assert_eq!(ask(), [false, false]);
    }
    assert_eq!(rt.block_on(async { ask() }), [true, true]);
    let in_task = ask.clone();
    assert_eq!(rt.block_on(async { tokio::spawn(async move { in_task() }).await.unwrap() }), [true, true]);
    let in_place = ask.clone();
    let blocks = async move { block_in_place(in_place) };
    assert_eq!(rt.block_on(async { tokio::spawn(blocks).await.unwrap() }), [false, false]);
    assert_eq!(rt.block_on(async { spawn_blocking(ask).await.unwrap() }), [false, false]);
    assert!(Handle::try_current().is_err());
}

#[test]
fn its_panic_names_the_callers_line() {
    let rt = current_thread();
    let ex = untimed();
    rt.block_on(async {
        let here = line!() + 1;
        let place = place_of_panic(|| ex.block_on(ready(())));
        assert_eq!(place, (file!().to_owned(), here));
        let here = line!() + 1;
        let place = place_of_panic(|| ex.block_on_shutdown(ready(())));
        assert_eq!(place, (file!().to_owned(), here));
    });
}
