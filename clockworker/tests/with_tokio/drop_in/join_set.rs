//! A `JoinSet` of local tasks.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use super::task::{AbortHandle, Id, JoinError, JoinSet, LocalSet, spawn_local, yield_now};
use crate::support::{Count, MEANT, complaint_of, current_thread, hold, multi_thread, panic_as_meant};

/// Runs a program inside a set, on either runtime.
fn inside<F: Future<Output = ()>>(program: impl Fn() -> F) {
    for rt in [current_thread(), multi_thread()] {
        LocalSet::new().block_on(&rt, program());
    }
}

/// Spawns a task that waits for ever, and gives what hears of its end.
fn spawn_waiting(set: &mut JoinSet<()>, on: Option<&LocalSet>) -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    let future = async move {
        pending::<()>().await;
        drop(sender);
    };
    match on {
        Some(local) => set.spawn_local_on(future, local),
        None => set.spawn_local(future),
    };
    receiver
}

#[test]
fn it_counts_tasks_until_their_outputs_are_taken() {
    inside(|| async {
        let mut set = JoinSet::new();
        assert!(set.is_empty() && set.join_next().await.is_none());
        for _ in 0..2 {
            set.spawn_local(async {});
        }
        for _ in 0..16 {
            set.join_next().await.unwrap().unwrap();
            assert_eq!(set.len(), 1);
            set.spawn_local(async {});
            assert_eq!(set.len(), 2);
        }
        while set.join_next().await.is_some() {}
        assert!(set.is_empty() && set.try_join_next().is_none());
        // It can be used again.
        set.spawn_local(async {});
        assert!(set.join_next().await.is_some() && set.join_next().await.is_none());
    });
}

#[test]
fn tasks_are_given_as_they_finish() {
    inside(|| async {
        let mut set = JoinSet::new();
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| oneshot::channel::<usize>()).unzip();
        for receiver in receivers {
            set.spawn_local(async move { receiver.await.unwrap() });
        }
        let mut senders: Vec<_> = senders.into_iter().map(Some).collect();
        for i in [3, 9, 0, 1, 8, 2, 7, 4, 6, 5] {
            senders[i].take().unwrap().send(i).unwrap();
            assert_eq!(set.join_next().await.unwrap().unwrap(), i);
        }
        assert!(set.is_empty());
    });
}

#[test]
fn detached_tasks_go_on() {
    inside(|| async {
        let mut set = JoinSet::new();
        let finished = Rc::new(Cell::new(0));
        let (stop, stopped) = watch::channel(());
        for _ in 0..10 {
            let (finished, mut stopped) = (Rc::clone(&finished), stopped.clone());
            set.spawn_local(async move {
                stopped.changed().await.unwrap();
                finished.set(finished.get() + 1);
            });
        }
        drop(stopped);
        yield_now().await;
        set.detach_all();
        assert!(set.is_empty() && set.join_next().await.is_none());
        drop(set);
        stop.send_replace(());
        stop.closed().await;
        assert_eq!(finished.get(), 10);
    });
}

#[test]
fn dropping_it_aborts_its_tasks_and_shutting_it_down_waits_for_them() {
    inside(|| async {
        for started in [false, true] {
            for shut_down in [false, true] {
                let mut set = JoinSet::new();
                let ends: Vec<_> = (0..16).map(|_| spawn_waiting(&mut set, None)).collect();
                if started {
                    yield_now().await;
                }
                assert!(set.try_join_next().is_none());
                if shut_down {
                    set.spawn_local(async {});
                    set.shutdown().await;
                    assert!(set.is_empty());
                }
                drop(set);
                for mut end in ends {
                    if shut_down {
                        // It is over already.
                        assert!(matches!(end.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
                    } else {
                        assert!(end.await.is_err());
                    }
                }
            }
        }
    });
}

#[test]
fn some_or_all_are_aborted_and_outputs_that_there_are_stay() {
    inside(|| async {
        for all in [false, true] {
            let mut set = JoinSet::new();
            let done = Rc::new(Cell::new(0));
            for i in 0..16 {
                let done = Rc::clone(&done);
                let task: AbortHandle = set.spawn_local(async move {
                    if i % 2 == 1 {
                        pending::<()>().await;
                    }
                    done.set(done.get() + 1);
                    i
                });
                if !all && i % 2 == 1 {
                    task.abort();
                }
            }
            if all {
                while done.get() < 8 {
                    yield_now().await;
                }
                set.abort_all();
                assert_eq!(set.len(), 16);
            }
            let (mut finished, mut cancelled) = (Vec::new(), 0);
            while let Some(result) = set.join_next().await {
                match result {
                    Ok(i) => finished.push(i),
                    Err(error) if error.is_cancelled() => cancelled += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            finished.sort_unstable();
            assert_eq!((finished, cancelled, set.len()), ((0..16).step_by(2).collect(), 8, 0));
        }
    });
}

#[test]
fn joining_all_gives_all_outputs() {
    inside(|| async {
        let mut set = JoinSet::new();
        for i in 0..5 {
            set.spawn_local(async move {
                for _ in 0..i {
                    yield_now().await;
                }
                Rc::new(i)
            });
        }
        let mut outputs: Vec<u32> = set.join_all().await.into_iter().map(|output| *output).collect();
        outputs.sort_unstable();
        assert_eq!(outputs, [0, 1, 2, 3, 4]);
        assert!(JoinSet::<()>::new().join_all().await.is_empty());
    });
}

#[test]
fn joining_all_passes_a_panic_on_and_aborts_the_rest() {
    inside(|| async {
        let mut set = JoinSet::new();
        let end = spawn_waiting(&mut set, None);
        set.spawn_local(async {
            yield_now().await;
            panic_as_meant("one of them");
        });
        let all = spawn_local(set.join_all());
        let error: JoinError = all.await.unwrap_err();
        assert!(error.to_string().ends_with(&format!("panicked with message \"{MEANT}one of them\"")));
        assert!(end.await.is_err());
    });
}

#[test]
fn a_thousand_that_finish_at_once_are_taken_without_waiting() {
    const TASKS: usize = 1_000;
    inside(|| async {
        let (start, started) = watch::channel(());
        let mut set = JoinSet::new();
        let mut spawned = HashSet::new();
        for _ in 0..TASKS {
            let mut started = started.clone();
            spawned.insert(set.spawn_local(async move { started.changed().await.unwrap() }).id());
        }
        drop(started);
        assert!(set.try_join_next().is_none() && set.try_join_next_with_id().is_none());
        start.send_replace(());
        start.closed().await;
        let mut joined: HashSet<Id> = HashSet::new();
        while let Some(result) = set.try_join_next_with_id() {
            joined.insert(result.unwrap().0);
        }
        assert!(joined == spawned && set.is_empty());
    });
}

#[test]
fn ids_are_given_with_outputs_and_errors() {
    inside(|| async {
        let mut set = JoinSet::new();
        let finishes = set.spawn_local(async { 5 }).id();
        assert_eq!(set.join_next_with_id().await.unwrap().unwrap(), (finishes, 5));
        let aborted = set.spawn_local(pending());
        aborted.abort();
        assert_eq!(set.join_next_with_id().await.unwrap().unwrap_err().id(), aborted.id());
        let panics = set.spawn_local(async { panic_as_meant("in a set") }).id();
        let error = poll_fn(|cx| set.poll_join_next_with_id(cx)).await.unwrap().unwrap_err();
        assert!(error.is_panic() && error.id() == panics);
        assert!(poll_fn(|cx| set.poll_join_next(cx)).await.is_none());
    });
}

#[test]
fn waiting_for_the_next_may_be_given_up_and_nothing_is_lost() {
    inside(|| async {
        let mut set = JoinSet::new();
        let (tell, told) = oneshot::channel();
        set.spawn_local(async move { told.await.unwrap() });
        for _ in 0..3 {
            let mut next = pin!(set.join_next());
            assert!(poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx).is_pending())).await);
        }
        assert!(set.try_join_next().is_none());
        tell.send("kept").unwrap();
        assert_eq!(set.join_next().await.unwrap().unwrap(), "kept");
    });
}

#[test]
fn tasks_are_spawned_on_a_set_that_is_run_later() {
    for rt in [current_thread(), multi_thread()] {
        let local = LocalSet::new();
        let mut set = JoinSet::new();
        for i in 0..8 {
            set.spawn_local_on(async move { *Rc::new(i) }, &local);
        }
        assert!(set.try_join_next().is_none());
        let mut outputs = local.block_on(&rt, set.join_all());
        outputs.sort_unstable();
        assert!(outputs.into_iter().eq(0..8));
    }
}

#[test]
fn tasks_on_a_set_that_is_not_run_are_aborted_by_the_next_run() {
    for rt in [current_thread(), multi_thread()] {
        for shut_down in [false, true] {
            let local = LocalSet::new();
            let mut set = JoinSet::new();
            let ends: Vec<_> = (0..8).map(|_| spawn_waiting(&mut set, Some(&local))).collect();
            if shut_down {
                local.block_on(&rt, async move { set.shutdown().await });
            } else {
                drop(set);
            }
            local.block_on(&rt, async {
                for end in ends {
                    assert!(end.await.is_err());
                }
            });
        }
    }
}

#[test]
fn tasks_of_a_set_that_is_gone_are_cancelled() {
    let rt = current_thread();
    let local = LocalSet::new();
    let mut set = JoinSet::new();
    set.spawn_local_on(async { 1 }, &local);
    drop(local);
    assert!(rt.block_on(set.join_next()).unwrap().unwrap_err().is_cancelled());
    assert!(set.is_empty());
}

#[test]
fn spawning_outside_is_a_panic_and_adds_nothing() {
    let mut set = JoinSet::new();
    let said = complaint_of(|| set.spawn_local(ready(())));
    assert!(said.contains("spawn_local") && said.contains("outside"), "{said}");
    let said = complaint_of(|| multi_thread().block_on(async { set.spawn_local(ready(())) }));
    assert!(said.contains("spawn_local") && said.contains("outside"), "{said}");
    assert!(set.is_empty());
}

thread_local! {
    static WORLD: RefCell<Option<(Runtime, LocalSet)>> = const { RefCell::new(None) };
}

/// A waker that, when it is dropped, runs the tasks of the thread's `LocalSet`.
struct RunsWhenDropped;

impl Wake for RunsWhenDropped {
    fn wake(self: Arc<Self>) {}
}

impl Drop for RunsWhenDropped {
    fn drop(&mut self) {
        if let Some((rt, local)) = WORLD.take() {
            local.block_on(&rt, yield_now());
            WORLD.set(Some((rt, local)));
        }
    }
}

#[test]
fn a_waker_that_is_replaced_may_finish_a_task_by_being_dropped() {
    let mut set = JoinSet::new();
    let local = LocalSet::new();
    set.spawn_local_on(async { 42 }, &local);
    WORLD.set(Some((current_thread(), local)));
    let waker = Waker::from(Arc::new(RunsWhenDropped));
    assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    // The task finishes in the middle of this.
    let polled = set.poll_join_next(&mut Context::from_waker(Waker::noop()));
    let output = match polled {
        Poll::Ready(output) => output,
        Poll::Pending => set.try_join_next(),
    };
    assert_eq!(output.unwrap().unwrap(), 42);
    drop(WORLD.take());
}

#[test]
fn a_task_may_hold_the_set_that_it_is_in() {
    let drops = Count::default();
    let local = LocalSet::new();
    let shared: Rc<RefCell<JoinSet<()>>> = Rc::default();
    for _ in 0..3 {
        let held = hold((Rc::clone(&shared), drops.guard()));
        shared.borrow_mut().spawn_local_on(held, &local);
    }
    local.block_on(&current_thread(), yield_now());
    let watch = Rc::downgrade(&shared);
    drop(shared);
    assert_eq!((drops.get(), watch.strong_count()), (0, 3));
    drop(local);
    assert_eq!((drops.get(), watch.strong_count()), (3, 0));
}
