//! Tasks of a `LocalSet` and the world: timers, sockets, threads, the runtime's own tasks.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time;

use super::task::{LocalSet, spawn_local, yield_now};
use crate::support::{OnDrop, complaint_of, current_thread, hold, multi_thread, never_rests, said};

const MOMENT: Duration = Duration::from_millis(2);

#[tokio::test(flavor = "multi_thread")]
async fn timers_fire_in_tasks_of_a_set_that_is_awaited() {
    let fired = Rc::new(Cell::new(0));
    let local = LocalSet::new();
    for i in 0..5 {
        let fired = Rc::clone(&fired);
        local.spawn_local(async move {
            time::sleep(MOMENT * i).await;
            fired.set(fired.get() + 1);
        });
    }
    local.await;
    assert_eq!(fired.get(), 5);
}

#[tokio::test]
async fn timers_fire_where_a_guard_is_entered_as_well() {
    let local = LocalSet::new();
    let _guard = local.enter();
    let (tell, told) = oneshot::channel();
    spawn_local(async move {
        time::sleep(Duration::ZERO).await;
        tell.send(()).unwrap();
    });
    local.run_until(async { told.await.unwrap() }).await;
}

#[test]
fn a_deadline_ends_a_task_that_waits_for_ever() {
    for rt in [current_thread(), multi_thread()] {
        let late = LocalSet::new().block_on(&rt, async {
            spawn_local(async { time::timeout(MOMENT, pending::<()>()).await.is_err() }).await.unwrap()
        });
        assert!(late);
    }
}

#[test]
fn a_timer_fires_although_tasks_never_rest() {
    for rt in [current_thread(), multi_thread()] {
        let local = LocalSet::new();
        for _ in 0..20 {
            local.spawn_local(async {
                loop {
                    yield_now().await;
                }
            });
        }
        let task = local.spawn_local(async { time::sleep(MOMENT).await });
        local.block_on(&rt, task).unwrap();
    }
}

#[test]
fn a_connection_is_accepted_although_tasks_never_rest() {
    let rt = current_thread();
    let local = LocalSet::new();
    for _ in 0..100 {
        // Not by tokio's `yield_now`, which waits for the driver by itself.
        local.spawn_local(never_rests());
    }
    local.block_on(&rt, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn_local(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"hello").await.unwrap();
        });
        let mut answer = Vec::new();
        TcpStream::connect(address).await.unwrap().read_to_end(&mut answer).await.unwrap();
        server.await.unwrap();
        assert_eq!(answer, b"hello");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn blocking_work_runs_on_other_threads_and_its_result_comes_back() {
    let here = thread::current().id();
    LocalSet::new()
        .run_until(async move {
            let there = spawn_local(async move {
                let there = tokio::task::spawn_blocking(|| thread::current().id()).await.unwrap();
                assert_eq!(thread::current().id(), here);
                there
            });
            assert_ne!(there.await.unwrap(), here);
        })
        .await;
}

#[test]
fn a_join_handle_is_awaited_by_a_task_of_the_runtime() {
    let rt = multi_thread();
    let here = thread::current().id();
    let where_it_was_awaited = LocalSet::new().block_on(&rt, async move {
        let (tell, told) = oneshot::channel();
        let local = spawn_local(async move {
            told.await.unwrap();
            thread::current().id()
        });
        let elsewhere = tokio::spawn(async move {
            tell.send(()).unwrap();
            assert_eq!(local.await.unwrap(), here);
            thread::current().id()
        });
        elsewhere.await.unwrap()
    });
    assert_ne!(where_it_was_awaited, here);
}

#[test]
fn the_runtimes_tasks_go_on_beside_it() {
    for rt in [current_thread(), multi_thread()] {
        LocalSet::new().block_on(&rt, async {
            let (send, mut receive) = mpsc::channel(1);
            let theirs = tokio::spawn(async move {
                for i in 0..100 {
                    send.send(i).await.unwrap();
                }
            });
            let ours = spawn_local(async move {
                let mut sum = 0;
                while let Some(i) = receive.recv().await {
                    sum += i;
                }
                sum
            });
            theirs.await.unwrap();
            assert_eq!(ours.await.unwrap(), 4_950);
        });
    }
}

#[test]
fn five_hundred_tasks_are_told_at_once_by_a_task_of_the_runtime() {
    const TASKS: usize = 500;
    for rt in [current_thread(), multi_thread()] {
        let local = LocalSet::new();
        let told = local.block_on(&rt, async {
            let (give, mut given) = mpsc::unbounded_channel::<oneshot::Receiver<()>>();
            let taken = Arc::new(Semaphore::new(0));
            let all_taken = Arc::clone(&taken);
            let teller = tokio::spawn(async move {
                let mut senders = Vec::new();
                for _ in 0..TASKS {
                    let (tell, told) = oneshot::channel();
                    senders.push(tell);
                    give.send(told).unwrap();
                }
                drop(give);
                let _ = all_taken.acquire_many(TASKS as u32).await.unwrap();
                senders.into_iter().for_each(|tell| tell.send(()).unwrap());
            });
            let mut tasks = Vec::new();
            while let Some(told) = given.recv().await {
                taken.add_permits(1);
                tasks.push(spawn_local(told));
            }
            teller.await.unwrap();
            let mut told = 0;
            for task in tasks {
                task.await.unwrap().unwrap();
                told += 1;
            }
            told
        });
        assert_eq!(told, TASKS);
    }
}

#[test]
fn tasks_that_await_tasks_wake_the_one_that_awaits_them_all() {
    let rt = current_thread();
    let local = LocalSet::new();
    let tasks: Vec<_> = (0..128)
        .map(|i| local.spawn_local(async move { spawn_local(async move { i }).await.unwrap() }))
        .collect();
    let outputs = rt.block_on(local.run_until(futures::future::join_all(tasks)));
    assert!(outputs.into_iter().map(Result::unwrap).eq(0..128));
}

#[test]
fn task_locals_of_tokio_are_each_tasks_own() {
    tokio::task_local! {
        static NUMBER: u32;
    }
    LocalSet::new().block_on(&current_thread(), async {
        let tasks: Vec<_> = (0..10)
            .map(|i| {
                spawn_local(NUMBER.scope(i, async {
                    yield_now().await;
                    NUMBER.get()
                }))
            })
            .collect();
        for (i, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), i as u32);
        }
        assert!(NUMBER.try_with(|_| {}).is_err());
    });
}

#[test]
fn blocking_in_place_on_a_runtime_of_one_thread_is_a_panic() {
    const SAYS: &str = "can call blocking only when running on the multi-threaded runtime";
    let rt = current_thread();
    let local = LocalSet::new();
    // In a task, in a task's drop, and in what is run.
    let waits = local.spawn_local(hold(OnDrop::new(|| tokio::task::block_in_place(|| {}))));
    local.block_on(&rt, async {
        let task = spawn_local(async { tokio::task::block_in_place(|| {}) });
        assert_eq!(said(task.await.unwrap_err().into_panic()), SAYS);
        yield_now().await;
    });
    assert_eq!(complaint_of(|| local.block_on(&rt, async { tokio::task::block_in_place(|| {}) })), SAYS);
    drop(local);
    let error = rt.block_on(waits).unwrap_err();
    assert!(error.is_panic() || error.is_cancelled(), "outside the runtime it is allowed");
}

#[test]
fn a_run_inside_the_runtime_that_is_to_run_it_is_a_panic() {
    let rt = current_thread();
    let local = LocalSet::new();
    let said = complaint_of(|| rt.block_on(async { local.block_on(&rt, pending::<()>()) }));
    assert!(said.contains("runtime"), "{said}");
}
