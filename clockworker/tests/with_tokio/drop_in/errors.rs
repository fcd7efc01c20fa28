//! How tasks end other than by finishing: aborts and panics, and what join handles say of them.

use std::error::Error;
use std::future::pending;
use std::io;
use std::panic::panic_any;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::task::{AbortHandle, JoinError, JoinHandle, LocalSet, spawn_local, yield_now};
use crate::support::{
    MEANT, OnDrop, bomb, complaint_of, current_thread, hold, hush, multi_thread, on_thread, panic_as_meant,
    said,
};

fn run<T>(program: impl Future<Output = T>) -> T {
    LocalSet::new().block_on(&current_thread(), program)
}

#[test]
fn a_task_asleep_is_aborted_here_or_elsewhere_and_dropped_here() {
    for rt in [current_thread(), multi_thread()] {
        for elsewhere in [false, true] {
            let local = LocalSet::new();
            let (say, said) = mpsc::channel();
            local.block_on(&rt, async {
                let guard = OnDrop::new(move || say.send(thread::current().id()).unwrap());
                let not_send = Rc::new(());
                let task = spawn_local(async move {
                    let _held = (guard, not_send);
                    tokio::time::sleep(Duration::from_secs(100)).await;
                });
                yield_now().await;
                let abort: AbortHandle = task.abort_handle();
                on_thread(elsewhere, || abort.abort());
                assert!(task.await.unwrap_err().is_cancelled());
                assert_eq!(said.recv().unwrap(), thread::current().id());
            });
        }
    }
}

#[test]
fn an_awaited_set_hears_of_an_abort_from_another_thread() {
    let rt = current_thread();
    let local = LocalSet::new();
    let here = thread::current().id();
    let guard = OnDrop::new(move || assert_eq!(thread::current().id(), here));
    let task: JoinHandle<()> = local.spawn_local(async move {
        let _held = (guard, Rc::new(()));
        pending().await
    });
    // The join handle itself goes to the other thread, and is dropped there.
    let other = thread::spawn(move || task.abort());
    rt.block_on(local);
    other.join().unwrap();
}

#[test]
fn an_aborted_task_goes_although_nobody_holds_its_handle() {
    run(async {
        let held = Rc::new(());
        let inside = Rc::clone(&held);
        let task = spawn_local(async move {
            let _inside = inside;
            pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        drop(task);
        while Rc::strong_count(&held) > 1 {
            yield_now().await;
        }
    });
}

#[test]
fn a_task_aborted_before_it_began_is_never_polled() {
    run(async {
        let task = spawn_local(async { unreachable!("it is aborted") });
        let id = task.id();
        task.abort();
        let error: JoinError = task.await.unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());
        assert_eq!(error.id(), id);
        let error = error.try_into_panic().unwrap_err();
        assert!(!complaint_of(|| error.into_panic()).is_empty(), "it says something");
    });
}

#[test]
fn aborting_a_task_that_is_over_changes_nothing() {
    run(async {
        let task = spawn_local(async { 5 });
        while !task.is_finished() {
            yield_now().await;
        }
        task.abort();
        let abort = task.abort_handle();
        abort.abort();
        assert_eq!(task.await.unwrap(), 5);
        assert!(abort.is_finished());
        abort.abort();
    });
}

#[test]
fn the_panic_of_a_dropped_future_or_output_stays_inside() {
    run(async {
        for awaited in [false, true] {
            let task = spawn_local(hold(bomb("in a drop")));
            yield_now().await;
            task.abort();
            if awaited {
                assert_eq!(said(task.await.unwrap_err().into_panic()), "in a drop");
            } else {
                drop_and_wait(task).await;
            }
        }
        for finished in [false, true] {
            let task = spawn_local(async { bomb("an output") });
            while finished && !task.is_finished() {
                yield_now().await;
            }
            drop_and_wait(task).await;
        }
    });
}

/// Drops a join handle, and waits until its task is over.
async fn drop_and_wait<T>(task: JoinHandle<T>) {
    let abort = task.abort_handle();
    drop(task);
    while !abort.is_finished() {
        yield_now().await;
    }
}

#[test]
fn a_panic_is_given_to_the_handle_and_to_nobody_else() {
    run(async {
        let bystander = spawn_local(async {
            yield_now().await;
            1
        });
        let detached = spawn_local(async { panic_as_meant("detached") });
        drop::<JoinHandle<()>>(detached);
        let task: JoinHandle<()> = spawn_local(async {
            yield_now().await;
            panic_as_meant("awaited")
        });
        let error = task.await.unwrap_err();
        assert!(error.is_panic() && !error.is_cancelled());
        assert_eq!(said(error.try_into_panic().unwrap()), "awaited");
        assert_eq!(bystander.await.unwrap(), 1);
    });
}

#[test]
fn errors_read_the_same() {
    hush();
    run(async {
        let error = spawn_local(async { panic!("{MEANT}text {}", 1) }).await.map(|(): ()| ()).unwrap_err();
        let id = error.id();
        assert_eq!(error.to_string(), format!("task {id} panicked with message \"{MEANT}text 1\""));
        assert_eq!(format!("{error:?}"), format!("JoinError::Panic(Id({id}), \"{MEANT}text 1\", ...)"));

        let error = spawn_local(async { panic!("meant: literal") }).await.map(|(): ()| ()).unwrap_err();
        let id = error.id();
        assert_eq!(error.to_string(), format!("task {id} panicked with message \"meant: literal\""));
        assert_eq!(*error.into_panic().downcast::<&'static str>().unwrap(), "meant: literal");

        let error = spawn_local(async { std::panic::resume_unwind(Box::new(7_u8)) }).await;
        let error = error.map(|(): ()| ()).unwrap_err();
        let id = error.id();
        assert_eq!(error.to_string(), format!("task {id} panicked"));
        assert_eq!(format!("{error:?}"), format!("JoinError::Panic(Id({id}), ...)"));
        assert!(error.source().is_none());
        assert_eq!(*error.into_panic().downcast::<u8>().unwrap(), 7);

        let task = spawn_local(pending::<()>());
        task.abort();
        let error = task.await.unwrap_err();
        assert!(error.to_string().starts_with(&format!("task {} was ", error.id())));
        assert!(format!("{error:?}").starts_with(&format!("JoinError::Cancelled(Id({})", error.id())));
    });
}

#[test]
fn an_error_becomes_an_io_error_that_holds_it() {
    hush();
    fn fails(error: JoinError) -> io::Result<()> {
        Err(error)?;
        Ok(())
    }
    run(async {
        for panics in [false, true] {
            let task = spawn_local(async move {
                if panics {
                    panic_any("meant: in io");
                }
                pending::<()>().await;
            });
            if !panics {
                task.abort();
            }
            let error = fails(task.await.unwrap_err()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Other);
            assert_eq!(error.to_string().contains("panicked"), panics);
        }
    });
}
