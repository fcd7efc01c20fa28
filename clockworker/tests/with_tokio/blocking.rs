//! `block_on` and `block_on_shutdown` beside tokio: they panic, and say why, where they would put to sleep the thread that
//! drives the runtime, and work wherever tokio's own `block_on` does.

use std::future::ready;
use std::thread;
use std::time::Duration;

use clockworker::spawn_local;
use futures::FutureExt;
use tokio::runtime::{Handle, Runtime, RuntimeFlavor};
use tokio::task::{LocalSet, block_in_place, spawn_blocking};

use crate::support::{case, caught, complaint_of, current_thread, multi_thread, place_of_panic, untimed};

/// Both ways to block panic with the reason, and the executor is as it was. tokio's own panics too.
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
    complaint_of(|| Handle::current().block_on(async {}));
}

/// Both work, and timers fire. tokio's own works too.
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
    assert!(caught(|| Handle::current().block_on(async {})).is_ok());
}

async fn sleeps() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

fn is_multi(rt: &Runtime) -> bool {
    rt.handle().runtime_flavor() == RuntimeFlavor::MultiThread
}

/// Calls a function at a place.
type Visit = fn(&Runtime, fn());

#[test]
fn it_panics_where_it_would_stop_a_runtime() {
    let places: [(&str, Visit); 5] = [
        ("the future that a runtime runs", |rt, act| rt.block_on(async { act() })),
        ("the future that a handle runs, after an await", |rt, act| {
            // It drives no runtime of one thread.
            if is_multi(rt) {
                rt.handle().block_on(async {
                    sleeps().await;
                    act();
                });
            }
        }),
        ("a task of a runtime", |rt, act| rt.block_on(rt.spawn(async move { act() })).unwrap()),
        ("a task of a LocalSet", |rt, act| {
            let local = LocalSet::new();
            let task = local.spawn_local(async move { act() });
            local.block_on(rt, task).unwrap();
        }),
        ("an executor that runs there", |rt, act| {
            let outer = untimed();
            rt.block_on(outer.run_until(async {
                act();
                spawn_local(async move { act() }).await.unwrap();
            }));
        }),
    ];
    for (place, visit) in places {
        for rt in [current_thread(), multi_thread()] {
            case(place, || visit(&rt, assert_panics));
        }
    }
}

#[test]
fn it_works_where_the_runtime_goes_on() {
    let places: [(&str, Visit); 4] = [
        ("a thread for blocking work", |rt, act| rt.block_on(async { spawn_blocking(act).await.unwrap() })),
        ("a worker that tokio lets block", |rt, act| {
            if is_multi(rt) {
                // It hands its other work on before.
                rt.block_on(async { tokio::spawn(async move { block_in_place(act) }).await.unwrap() });
            }
        }),
        ("a future that tokio lets block", |rt, act| {
            if is_multi(rt) {
                rt.block_on(async { block_in_place(act) });
            }
        }),
        ("a thread that has entered a runtime that others drive", |rt, act| {
            let (handle, (done, is_done)) = (rt.handle().clone(), tokio::sync::oneshot::channel());
            let other = thread::spawn(move || {
                let _guard = handle.enter();
                act();
                done.send(()).unwrap();
            });
            rt.block_on(is_done).unwrap();
            other.join().unwrap();
        }),
    ];
    for (place, visit) in places {
        for rt in [current_thread(), multi_thread()] {
            case(place, || visit(&rt, assert_works));
        }
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

/// As tokio's own `Handle::block_on`: nobody can tell whether the runtime is driven elsewhere, nor what is awaited.
#[test]
fn where_nobody_drives_the_runtime_it_works_without_timers() {
    let rt = current_thread();
    let _guard = rt.enter();
    assert_eq!(untimed().block_on(async { spawn_local(async { 3 }).await.unwrap() }), 3);
}

#[test]
fn its_panic_names_the_callers_line() {
    let ex = untimed();
    current_thread().block_on(async {
        let here = line!() + 1;
        let place = place_of_panic(|| ex.block_on(ready(())));
        assert_eq!(place, (file!().to_owned(), here));
        let here = line!() + 1;
        let place = place_of_panic(|| ex.block_on_shutdown(ready(())));
        assert_eq!(place, (file!().to_owned(), here));
    });
}
