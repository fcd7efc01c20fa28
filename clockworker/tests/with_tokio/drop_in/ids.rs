//! Task ids: in the task, in its destructors, and outside.

use std::future::poll_fn;
use std::task::Poll;

use super::task::{Id, JoinHandle, LocalSet, id, spawn_local, try_id, yield_now};
use crate::support::{OnDrop, Slot, current_thread, place_of_panic};

fn run<T>(program: impl Future<Output = T>) -> T {
    LocalSet::new().block_on(&current_thread(), program)
}

#[test]
fn a_task_knows_its_id_at_every_poll() {
    run(async {
        let tasks: Vec<JoinHandle<(Id, Id)>> = (0..10)
            .map(|_| {
                spawn_local(async {
                    let first = id();
                    yield_now().await;
                    (first, id())
                })
            })
            .collect();
        let mut ids = Vec::new();
        for task in tasks {
            let known = (task.id(), task.abort_handle().id());
            let own = task.await.unwrap();
            assert_eq!((own, known.0), ((known.0, known.0), known.1));
            ids.push(own.0);
        }
        ids.sort_by_key(|id| id.to_string());
        ids.dedup();
        assert_eq!(ids.len(), 10, "each has its own");
    });
}

#[test]
fn there_is_none_outside_a_task() {
    assert_eq!(try_id(), None);
    let rt = current_thread();
    rt.block_on(async { assert_eq!(try_id(), None) });
    let local = LocalSet::new();
    let _guard = local.enter();
    assert_eq!(try_id(), None);
    let task = spawn_local(async { try_id() });
    assert_eq!(try_id(), None);
    local.block_on(&rt, async {
        assert_eq!(try_id(), None);
        let known = task.id();
        assert_eq!(task.await.unwrap(), Some(known));
        assert_eq!(try_id(), None);
    });
}

#[test]
fn asking_for_it_outside_a_task_is_the_callers_panic() {
    let (outside, _) = place_of_panic(|| id());
    let (inside, _) = place_of_panic(|| run(async { id() }));
    assert_eq!((&*outside, &*inside), (file!(), file!()));
}

/// Puts the id that is current when it is dropped.
fn notes(id: &Slot<Option<Id>>) -> OnDrop<impl FnOnce() + use<>> {
    let id = id.clone();
    OnDrop::new(move || id.put(try_id()))
}

#[test]
fn it_is_current_when_the_future_is_dropped() {
    for ready in [false, true] {
        let noted = Slot::new();
        run(async {
            // Held by the future itself, and not by its poll.
            let inside = notes(&noted);
            let task = spawn_local(poll_fn(move |_| {
                let _inside = &inside;
                if ready { Poll::Ready(()) } else { Poll::Pending }
            }));
            let known = task.id();
            if !ready {
                yield_now().await;
                task.abort();
            }
            assert_eq!(task.await.is_ok(), ready);
            assert_eq!(noted.take(), Some(known));
            assert_eq!(try_id(), None);
        });
    }
}

#[test]
fn it_is_current_when_an_unread_output_is_dropped() {
    for after in [false, true] {
        let noted = Slot::new();
        run(async {
            let output = notes(&noted);
            let task = spawn_local(async { output });
            let (known, abort) = (task.id(), task.abort_handle());
            let task = after.then_some(task);
            while !abort.is_finished() {
                assert!(noted.is_empty());
                yield_now().await;
            }
            assert_eq!(noted.is_empty(), after);
            drop(task);
            assert_eq!(noted.take(), Some(known));
        });
    }
}

#[test]
fn tasks_inside_tasks_have_their_own_and_the_outer_is_found_again() {
    run(async {
        let task = spawn_local(async {
            let outer = id();
            let child = spawn_local(async { id() });
            assert_eq!(child.id(), child.await.unwrap());
            LocalSet::new()
                .run_until(async {
                    assert_eq!(id(), outer, "what is run belongs to the task that runs it");
                    let inner = spawn_local(async { id() }).await.unwrap();
                    assert_ne!(inner, outer);
                })
                .await;
            assert_eq!(id(), outer);
        });
        task.await.unwrap();
    });
}
